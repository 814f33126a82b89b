import fc from 'fast-check';
import { expect } from 'vitest';
import { releaseSuspense } from '../../src/domain/settlement/suspense.ts';
import { act } from '../setup/acts.ts';
import type { Data } from '../setup/gateway.ts';
import { tester } from '../setup/tester.ts';
import {
  type AccountStatus,
  accountMoves,
  type Model,
  type ModelQuote,
  type Outcome,
  outcomes,
  type QuoteKind,
  withinTheHouse,
} from './model.ts';
import { always, begin, command, ends, pick, position, send } from './play.ts';
import type { Real } from './policies.ts';
import { policyCommands } from './policy-commands.ts';

const amount = fc.bigInt({ min: 1_000n, max: 40_000n });
const outcome = fc.constantFrom<Outcome>('ok', 'ok', 'fail', 'reject', 'stuck', 'return');

const fund = amount.map((sum) =>
  command(`fund ${sum}`, always, async (model, real) => {
    await send(model, real, 'sandboxFundAccount', { accountId: real.pair.a.usd, amount: sum });
    model.balances.aUsd += sum;
  }),
);

const transferOut = fc.tuple(amount, outcome, fc.boolean()).map(([sum, outcome, closed]) =>
  command(`transferOut ${sum} ${closed ? 'to a closed account' : outcome}`, always, async (model, real) => {
    const expected = closed ? outcomes.fail : outcomes[outcome];
    const input = {
      sourceAccountId: real.pair.a.usd,
      destinationAccountId: closed ? real.pair.closed : real.pair.a.outsideUsd,
      amount: sum,
      ...(!closed && { sandboxScenario: outcomes[outcome].scenario }),
    };
    await begin(model, real, 'transferOut', input, {
      payment: {
        ...{ kind: 'TRANSFER_OUT', customer: 'A', source: 'aUsd', amount: sum },
        to: closed ? 'closed' : 'outsideUsd',
      },
      obstacle: (takes) =>
        takes && model.balances.aUsd < sum
          ? 'INSUFFICIENT_BALANCE'
          : closed || model.outside === 'ACTIVE'
            ? undefined
            : 'INVALID_BANK_ACCOUNT',
      go: async (id) => {
        await ends(model, real, id, expected.status);
        if (!expected.back) model.balances.aUsd -= sum;
        if (!closed) suspend(model, outcome, id, sum);
      },
    });
  }),
);

const transferIn = fc.tuple(amount, fc.constantFrom<Outcome>('ok', 'fail')).map(([sum, outcome]) =>
  command(`transferIn ${sum} ${outcome}`, always, async (model, real) => {
    const input = {
      sourceAccountId: real.pair.a.outsideUsd,
      destinationAccountId: real.pair.a.usd,
      amount: sum,
      sandboxScenario: outcomes[outcome].scenario,
    };
    await begin(model, real, 'transferIn', input, {
      payment: { kind: 'TRANSFER_IN', customer: 'A', source: undefined, to: 'aUsd', amount: sum },
      obstacle: () => (model.outside === 'ACTIVE' ? undefined : 'INVALID_BANK_ACCOUNT'),
      go: async (id) => {
        await ends(model, real, id, outcomes[outcome].status);
        if (outcome === 'ok') model.balances.aUsd += sum;
      },
    });
  }),
);

const transferInternal = fc.tuple(amount, fc.boolean()).map(([sum, back]) =>
  command(`transferInternal ${sum} from ${back ? 'B to A' : 'A to B'}`, always, async (model, real) => {
    const { a, b } = real.pair;
    const [source, to] = back ? (['bUsd', 'aUsd'] as const) : (['aUsd', 'bUsd'] as const);
    const parties = back
      ? { sourceAccountId: b.usd, destinationAccountId: a.usd }
      : { sourceAccountId: a.usd, destinationAccountId: b.usd };
    await begin(
      model,
      real,
      'transferInternal',
      { ...parties, amount: sum },
      {
        payment: { kind: 'TRANSFER_INTERNAL', customer: back ? 'B' : 'A', source, to, amount: sum },
        obstacle: (takes) => (takes && model.balances[source] < sum ? 'INSUFFICIENT_BALANCE' : undefined),
        go: async (id) => {
          await ends(model, real, id, 'COMPLETED');
          model.balances[source] -= sum;
          model.balances[to] += sum;
        },
      },
    );
  }),
);

let named = 0;

const makeQuote = (...kinds: readonly QuoteKind[]) =>
  fc.tuple(amount, fc.constantFrom(...kinds)).map(([sum, kind]) =>
    command(`quote ${sum} ${kind}`, always, async (model, real) => {
      const { a, b, umaOfB } = real.pair;
      const isUma = kind === 'uma';
      named += 1;
      const name = `payment ${named}`;
      const code = kind === 'pulled' && model.outside !== 'ACTIVE' ? 'INVALID_BANK_ACCOUNT' : undefined;
      const input = {
        source:
          kind === 'funded'
            ? { realtimeFunding: { customerId: a.customerId, currency: 'USD' } }
            : { account: { accountId: kind === 'pulled' ? a.outsideUsd : a.usd } },
        destination: isUma
          ? { uma: { umaAddress: umaOfB, currency: 'USD' } }
          : { account: { accountId: kind === 'other' ? b.eur : a.outsideEur } },
        ...(isUma && {
          lookupId: await real.world.lookup(umaOfB),
          senderCustomerInfo: [{ name: 'FULL_NAME', value: 'Grace Hopper' }],
        }),
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: sum,
        description: name,
      };
      const note = ({ quote }: Data, isHeld = false) => {
        expect(quote.totalSendingAmount.amount).toBe(sum.toString());
        const made: ModelQuote = {
          ...{ id: quote.id, transactionId: quote.transaction.id, kind, name, send: sum, isHeld },
          ...{ receive: BigInt(quote.totalReceivingAmount.amount), status: 'PENDING', hasExpired: false },
        };
        model.quotes.push(made);
      };
      // Only a quote for a deposit is a payment when it is made.
      if (kind !== 'funded') {
        const made = await send(model, real, 'createQuote', input, code);
        return code === undefined ? note(made) : undefined;
      }
      const found = (id: string) => model.quotes.find(({ transactionId }) => transactionId === id);
      await begin(model, real, 'createQuote', input, {
        payment: { kind: 'QUOTE', customer: 'A', source: undefined, to: 'outsideEur', amount: sum },
        obstacle: () => undefined,
        idOf: ({ quote }) => quote.transaction.id,
        wait: (_id, made) => note(made, true),
        go: (id, made) => {
          const held = found(id);
          if (held) held.isHeld = false;
          else note(made);
        },
        end: (status) => {
          const held = model.quotes.find(({ isHeld, name: its }) => isHeld && its === name);
          if (held) expireIf(status, held);
        },
      });
    }),
  );

/** Why a quote cannot be executed, as the first of the checks says. */
function obstacleOf(model: Model, quote: ModelQuote, takes: boolean): string | undefined {
  if (quote.kind === 'pulled') return model.outside === 'ACTIVE' ? undefined : 'INVALID_BANK_ACCOUNT';
  return takes && model.balances.aUsd < quote.send ? 'INSUFFICIENT_BALANCE' : undefined;
}

const receiverOf = {
  outside: 'outsideEur',
  other: 'bEur',
  uma: 'uma',
  funded: 'outsideEur',
  pulled: 'outsideEur',
} as const;

/** Waits until a payment to a UMA address has arrived at its receiver's platform, where it waits for its approval. */
async function awaitArrival(model: Model, real: Real, quote: ModelQuote, outcome: Outcome): Promise<void> {
  const arriving = await real.world.until(
    `the arrival of ${quote.name}`,
    (change) => change.type === 'INCOMING' && change.status === 'PENDING' && change.description === quote.name,
  );
  model.waiting.push({
    id: arriving.id,
    amount: quote.receive,
    outcome: withinTheHouse(outcome),
    sent: { id: quote.transactionId, amount: quote.send },
  });
}

const execute = fc.tuple(position, outcome).map(([at, outcome]) =>
  command(
    `execute #${at} ${outcome}`,
    (model) => model.quotes.length > 0,
    async (model, real) => {
      const quote = pick(model.quotes, at);
      const { kind, send: sum, transactionId } = quote;
      const input = { quoteId: quote.id, sandboxScenario: outcomes[outcome].scenario };
      const code =
        kind === 'funded'
          ? 'INVALID_INPUT'
          : { EXPIRED: 'QUOTE_EXPIRED', DONE: 'CONFLICT', PENDING: undefined }[quote.status];
      if (code !== undefined) return void (await send(model, real, 'executeQuote', input, code));
      const source = kind === 'pulled' ? undefined : 'aUsd';
      await begin(model, real, 'executeQuote', input, {
        payment: { kind: 'QUOTE', customer: 'A', source, to: receiverOf[kind], amount: sum },
        obstacle: (takes) => obstacleOf(model, quote, takes),
        idOf: () => transactionId,
        wait: () => {
          quote.status = 'DONE';
        },
        go: async () => {
          quote.status = 'DONE';
          // What is pulled comes in and goes out again at once.
          if (kind !== 'pulled') model.balances.aUsd -= sum;
          if (kind === 'uma') return awaitArrival(model, real, quote, outcome);
          const expected = outcomes[kind === 'other' ? withinTheHouse(outcome) : outcome];
          await ends(model, real, transactionId, expected.status);
          suspend(model, outcome, transactionId, sum);
          if (expected.back) model.balances.aUsd += sum;
          else if (kind === 'other' && expected.status === 'COMPLETED') model.balances.bEur += quote.receive;
        },
        end: (status) => expireIf(status, quote),
      });
    },
  ),
);

/** A quote whose payment nobody approved in time has expired; one whose payment was rejected has failed. */
function expireIf(status: 'REJECTED' | 'EXPIRED', quote: ModelQuote): void {
  quote.status = status === 'EXPIRED' ? 'EXPIRED' : 'DONE';
  quote.hasExpired = status === 'EXPIRED';
}

/** A quote that has ended no longer waits for an approval. */
function dropHeld(model: Model, { transactionId }: ModelQuote): void {
  const at = model.held.findIndex(({ id }) => id === transactionId);
  if (at >= 0) model.held.splice(at, 1);
}

const cancel = position.map((at) =>
  command(
    `cancel #${at}`,
    (model) => model.quotes.length > 0,
    async (model, real) => {
      const quote = pick(model.quotes, at);
      const code = quote.hasExpired ? 'QUOTE_EXPIRED' : quote.status === 'DONE' ? 'CONFLICT' : undefined;
      await send(model, real, 'cancelQuote', { quoteId: quote.id }, code);
      if (code !== undefined) return;
      await ends(model, real, quote.transactionId, 'EXPIRED');
      expireIf('EXPIRED', quote);
      dropHeld(model, quote);
    },
  ),
);

const sandboxSend = fc
  .tuple(position, fc.constantFrom('EXACT', 'SHORT', 'TWICE', 'LATE'), outcome)
  .map(([at, deposit, outcome]) =>
    command(
      `sandboxSend #${at} ${deposit} ${outcome}`,
      (model) => model.quotes.some((quote) => quote.kind === 'funded'),
      async (model, real) => {
        const quote = pick(
          model.quotes.filter((one) => one.kind === 'funded'),
          at,
        );
        const late = quote.status === 'EXPIRED';
        const code = quote.status === 'DONE' || (quote.isHeld && quote.status === 'PENDING') ? 'CONFLICT' : undefined;
        const sandboxScenario = { ...outcomes[outcome].scenario, ...(deposit !== 'EXACT' && { deposit }) };
        await send(model, real, 'sandboxSend', { quoteId: quote.id, currency: 'USD', sandboxScenario }, code);
        if (code !== undefined) return;
        quote.status = 'DONE';
        if (late) {
          // Too late for the quote: what arrives is the customer's, and the payment stays EXPIRED.
          model.balances.aUsd +=
            deposit === 'SHORT' ? quote.send / 2n : deposit === 'TWICE' ? 2n * quote.send : quote.send;
          return;
        }
        const funds = deposit === 'EXACT' || deposit === 'TWICE';
        const expected = funds ? outcomes[outcome] : outcomes.fail;
        await ends(model, real, quote.transactionId, expected.status);
        if (deposit === 'SHORT') model.balances.aUsd += quote.send / 2n;
        if (deposit === 'LATE' || deposit === 'TWICE') model.balances.aUsd += quote.send;
        if (funds && expected.back) model.balances.aUsd += quote.send;
        if (funds) suspend(model, outcome, quote.transactionId, quote.send);
      },
    ),
  );

const expire = position.map((at) =>
  command(
    `expire #${at}`,
    (model) => model.quotes.some((quote) => quote.status === 'PENDING'),
    async (model, real) => {
      const quote = pick(
        model.quotes.filter((one) => one.status === 'PENDING'),
        at,
      );
      await real.world.passExpiry(quote.id);
      await ends(model, real, quote.transactionId, 'EXPIRED');
      expireIf('EXPIRED', quote);
      dropHeld(model, quote);
    },
  ),
);

const receive = fc.tuple(amount, fc.constantFrom<Outcome>('ok', 'ok', 'fail', 'reject')).map(([sum, outcome]) =>
  command(`receive ${sum} ${outcome}`, always, async (model, real) => {
    const { transaction } = await send(model, real, 'sandboxReceiveUma', {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      receiver: { customerId: real.pair.b.customerId },
      currency: 'USD',
      amount: sum,
      sandboxScenario: outcomes[outcome].scenario,
    });
    model.waiting.push({ id: transaction.id, amount: sum, outcome, sent: undefined });
  }),
);

/** How the pay request of a payment that is only looked up goes. */
type PayRequest = 'comes' | 'fails' | 'never comes';

const lookedUp = fc.tuple(amount, fc.constantFrom<PayRequest>('comes', 'fails', 'never comes')).map(([sum, request]) =>
  command(`receive ${sum}, whose pay request ${request}`, always, async (model, real) => {
    const { transaction } = await send(model, real, 'sandboxReceiveUma', {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      receiver: { customerId: real.pair.b.customerId },
      currency: 'USD',
      amount: sum,
      sandboxScenario: {
        step: 'PAY_REQUEST',
        ...(request === 'fails' && { failureReason: 'LNURLP_FAILED' }),
        ...(request === 'never comes' && { delayMs: 3_600_000 }),
      },
    });
    if (request === 'fails') return ends(model, real, transaction.id, 'FAILED');
    if (request === 'never comes') {
      await real.world.passPayRequest(transaction.id);
      return ends(model, real, transaction.id, 'EXPIRED');
    }
    await real.world.until(
      `the pay request of ${transaction.id}`,
      (change) => change.id === transaction.id && change.status === 'PENDING',
    );
    model.waiting.push({ id: transaction.id, amount: sum, outcome: 'ok', sent: undefined });
  }),
);

const moveAccount = fc.constantFrom<AccountStatus>('ACTIVE', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE').map((status) =>
  command(`the account outside becomes ${status}`, always, async (model, real) => {
    const code = accountMoves[model.outside].includes(status) ? undefined : 'CONFLICT';
    await send(model, real, 'sandboxSetExternalAccountStatus', { accountId: real.pair.a.outsideUsd, status }, code);
    if (code === undefined) model.outside = status;
  }),
);

/** Remembers a payment whose money has come to wait in suspense. */
function suspend(model: Model, outcome: Outcome, id: string, amount: bigint): void {
  if (outcome === 'stuck') model.suspended.push({ id, amount, released: false });
}

const release = position.map((at) =>
  command(
    `release #${at}`,
    (model) => model.suspended.length > 0,
    async (model, real) => {
      const suspended = pick(model.suspended, at);
      const { kind } = await releaseSuspense(real.world.database, suspended.id, tester);
      expect(kind).toBe(suspended.released ? 'paid-before' : 'paid');
      if (!suspended.released) model.balances.aUsd += suspended.amount;
      suspended.released = true;
    },
  ),
);

type Verdict = 'approve' | 'reject' | 'neither';

/** Decides on a waiting payment and waits for both sides. */
export async function decide(model: Model, real: Real, at: number, verdict: Verdict): Promise<void> {
  const waiting = pick(model.waiting, at);
  const { id, amount, outcome, sent } = waiting;
  model.waiting.splice(model.waiting.indexOf(waiting), 1);
  if (verdict === 'neither') await real.world.passApproval(id);
  else await send(model, real, `${verdict}Transaction`, { transactionId: id });
  const decided: Outcome = { approve: outcome, reject: 'reject' as const, neither: 'fail' as const }[verdict];
  const expected = outcomes[decided];
  await ends(model, real, id, expected.status);
  if (expected.status === 'COMPLETED') model.balances.bUsd += amount;
  if (!sent) return;
  await ends(model, real, sent.id, expected.status);
  if (expected.back) model.balances.aUsd += sent.amount;
  suspend(model, decided, sent.id, sent.amount);
}

const decision = fc
  .tuple(position, fc.constantFrom<Verdict>('approve', 'approve', 'reject', 'neither'))
  .map(([at, verdict]) =>
    command(
      `${verdict} #${at}`,
      (model) => model.waiting.length > 0,
      (model, real) => decide(model, real, at, verdict),
    ),
  );

const replay = fc.constant(
  command(
    'replay',
    (model) => model.last !== undefined,
    async (model) => {
      if (!model.last) return;
      const { by, name, input, code } = model.last;
      const result = await act(by, name, input, '');
      expect(result.code, `the repeat of ${name}`).toBe(code);
      if (code === undefined) expect(result.replayed).toBe(true);
    },
  ),
);

/** Every command. Quotes come most often, since many others are possible only after one. */
const commandsWith = (...kinds: readonly QuoteKind[]) => [
  fund,
  transferOut,
  transferIn,
  transferInternal,
  ...Array<ReturnType<typeof makeQuote>>(5).fill(makeQuote(...kinds)),
  ...Array<typeof execute>(3).fill(execute),
  ...Array<typeof sandboxSend>(4).fill(sandboxSend),
  expire,
  cancel,
  receive,
  lookedUp,
  moveAccount,
  release,
  ...Array<typeof decision>(3).fill(decision),
  ...policyCommands,
  replay,
];

/** The commands of a platform. */
export const commands = commandsWith('outside', 'other', 'uma', 'funded', 'pulled');
