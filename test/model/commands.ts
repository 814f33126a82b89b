import fc from 'fast-check';
import { expect } from 'vitest';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import { moving } from '../setup/acts.ts';
import { tester } from '../setup/gateway.ts';
import {
  type AccountStatus,
  type Model,
  type ModelQuote,
  type Outcome,
  outcomes,
  type QuoteKind,
  type Waiting,
  withinTheHouse,
} from './model.ts';
import { command, commandOn, position, type Real, send } from './play.ts';

const amount = fc.bigInt({ min: 1_000n, max: 40_000n });
const outcome = fc.constantFrom<Outcome>('ok', 'ok', 'fail', 'reject', 'stuck', 'return');

const fund = amount.map((sum) =>
  command(`fund ${sum}`, async (model, real) => {
    await send(model, real, 'sandboxFundAccount', { accountId: real.pair.a.usd, amount: sum });
    model.balances.aUsd += sum;
  }),
);

const transferOut = fc.tuple(amount, outcome, fc.boolean()).map(([sum, outcome, closed]) =>
  command(`transferOut ${sum} ${closed ? 'to a closed account' : outcome}`, async (model, real) => {
    const expected = closed ? outcomes.fail : outcomes[outcome];
    const { usd, outsideUsd } = real.pair.a;
    const rest = closed ? {} : { sandboxScenario: outcomes[outcome].scenario };
    const input = moving(usd, closed ? real.pair.closed : outsideUsd, sum, rest);
    const isBlocked = !closed && model.outside !== 'ACTIVE';
    const code = model.balances.aUsd < sum ? 'INSUFFICIENT_BALANCE' : isBlocked ? 'INVALID_BANK_ACCOUNT' : undefined;
    const { transaction } = await send(model, real, 'transferOut', input, code);
    if (code !== undefined) return;
    await real.world.ends(transaction.id, expected.status);
    if (!expected.back) model.balances.aUsd -= sum;
    if (!closed) suspend(model, outcome, transaction.id, sum);
  }),
);

const transferIn = fc.tuple(amount, fc.constantFrom<Outcome>('ok', 'fail')).map(([sum, outcome]) =>
  command(`transferIn ${sum} ${outcome}`, async (model, real) => {
    const { usd, outsideUsd } = real.pair.a;
    const input = moving(outsideUsd, usd, sum, { sandboxScenario: outcomes[outcome].scenario });
    const code = model.outside === 'ACTIVE' ? undefined : 'INVALID_BANK_ACCOUNT';
    const { transaction } = await send(model, real, 'transferIn', input, code);
    if (code !== undefined) return;
    await real.world.ends(transaction.id, outcomes[outcome].status);
    if (outcome === 'ok') model.balances.aUsd += sum;
  }),
);

const transferInternal = fc.tuple(amount, fc.boolean()).map(([sum, back]) =>
  command(`transferInternal ${sum} from ${back ? 'B to A' : 'A to B'}`, async (model, real) => {
    const { a, b } = real.pair;
    const [source, to] = back ? (['bUsd', 'aUsd'] as const) : (['aUsd', 'bUsd'] as const);
    const [from, into] = back ? [b.usd, a.usd] : [a.usd, b.usd];
    const code = model.balances[source] < sum ? 'INSUFFICIENT_BALANCE' : undefined;
    const { transaction } = await send(model, real, 'transferInternal', moving(from, into, sum), code);
    if (code !== undefined) return;
    await real.world.ends(transaction.id, 'COMPLETED');
    model.balances[source] -= sum;
    model.balances[to] += sum;
  }),
);

let named = 0;

const makeQuote = fc
  .tuple(amount, fc.constantFrom<QuoteKind>('outside', 'other', 'uma', 'funded', 'pulled'))
  .map(([sum, kind]) =>
    command(`quote ${sum} ${kind}`, async (model, real) => {
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
          // Each quote needs a new lookup, because lookups expire after ten minutes and a run may take longer.
          lookupId: (await real.world.platform.lookUp(umaOfB)).id,
          senderCustomerInfo: [{ name: 'FULL_NAME', value: 'Grace Hopper' }],
        }),
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: sum,
        description: name,
      };
      const { quote } = await send(model, real, 'createQuote', input, code);
      if (code !== undefined) return;
      expect(quote.totalSendingAmount.amount).toBe(sum.toString());
      model.quotes.push({
        ...{ id: quote.id, transactionId: quote.transaction.id, kind, name, send: sum },
        ...{ receive: BigInt(quote.totalReceivingAmount.amount), status: 'PENDING', hasExpired: false },
      });
    }),
  );

const quotesOf = ({ quotes }: Model) => quotes;

/** Returns the error code expected when the quote is executed, or undefined if the execution should succeed. */
function obstacleOf(model: Model, quote: ModelQuote): string | undefined {
  if (quote.kind === 'funded') return 'INVALID_INPUT';
  if (quote.status !== 'PENDING') return quote.status === 'EXPIRED' ? 'QUOTE_EXPIRED' : 'CONFLICT';
  if (quote.kind === 'pulled') return model.outside === 'ACTIVE' ? undefined : 'INVALID_BANK_ACCOUNT';
  return model.balances.aUsd < quote.send ? 'INSUFFICIENT_BALANCE' : undefined;
}

/** Waits until a payment to a UMA address has reached the receiver's platform and is awaiting approval. */
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
  commandOn(`execute ${outcome}`, quotesOf, at, async (quote, model, real) => {
    const { kind, send: sum, transactionId } = quote;
    const code = obstacleOf(model, quote);
    const input = { quoteId: quote.id, sandboxScenario: outcomes[outcome].scenario };
    await send(model, real, 'executeQuote', input, code);
    if (code !== undefined) return;
    quote.status = 'DONE';
    // Pulled money arrives and leaves again immediately, so sending it does not reduce the balance.
    if (kind !== 'pulled') model.balances.aUsd -= sum;
    if (kind === 'uma') return awaitArrival(model, real, quote, outcome);
    const expected = outcomes[kind === 'other' ? withinTheHouse(outcome) : outcome];
    await real.world.ends(transactionId, expected.status);
    suspend(model, outcome, transactionId, sum);
    if (expected.back) model.balances.aUsd += sum;
    else if (kind === 'other' && expected.status === 'COMPLETED') model.balances.bEur += quote.receive;
  }),
);

function expireQuote(quote: ModelQuote): void {
  quote.status = 'EXPIRED';
  quote.hasExpired = true;
}

const cancel = position.map((at) =>
  commandOn('cancel', quotesOf, at, async (quote, model, real) => {
    const code = quote.hasExpired ? 'QUOTE_EXPIRED' : quote.status === 'DONE' ? 'CONFLICT' : undefined;
    await send(model, real, 'cancelQuote', { quoteId: quote.id }, code);
    if (code !== undefined) return;
    await real.world.ends(quote.transactionId, 'EXPIRED');
    expireQuote(quote);
  }),
);

const fundedOf = ({ quotes }: Model) => quotes.filter(({ kind }) => kind === 'funded');

const sandboxSend = fc
  .tuple(position, fc.constantFrom('EXACT', 'SHORT', 'TWICE', 'LATE'), outcome)
  .map(([at, deposit, outcome]) =>
    commandOn(`sandboxSend ${deposit} ${outcome}`, fundedOf, at, async (quote, model, real) => {
      const late = quote.status === 'EXPIRED';
      const code = quote.status === 'DONE' ? 'CONFLICT' : undefined;
      const sandboxScenario = { ...outcomes[outcome].scenario, ...(deposit !== 'EXACT' && { deposit }) };
      await send(model, real, 'sandboxSend', { quoteId: quote.id, currency: 'USD', sandboxScenario }, code);
      if (code !== undefined) return;
      quote.status = 'DONE';
      if (late) {
        // The deposit is too late for the quote, so it is credited to the customer, and the payment stays EXPIRED.
        model.balances.aUsd +=
          deposit === 'SHORT' ? quote.send / 2n : deposit === 'TWICE' ? 2n * quote.send : quote.send;
        return;
      }
      const funds = deposit === 'EXACT' || deposit === 'TWICE';
      const expected = funds ? outcomes[outcome] : outcomes.fail;
      await real.world.ends(quote.transactionId, expected.status);
      if (deposit === 'SHORT') model.balances.aUsd += quote.send / 2n;
      if (deposit === 'LATE' || deposit === 'TWICE') model.balances.aUsd += quote.send;
      if (funds && expected.back) model.balances.aUsd += quote.send;
      if (funds) suspend(model, outcome, quote.transactionId, quote.send);
    }),
  );

const pendingOf = ({ quotes }: Model) => quotes.filter(({ status }) => status === 'PENDING');

const expire = position.map((at) =>
  commandOn('expire', pendingOf, at, async (quote, _model, real) => {
    await real.world.passExpiry(quote.id);
    await real.world.ends(quote.transactionId, 'EXPIRED');
    expireQuote(quote);
  }),
);

/** Announces an external payment to customer B. */
const announced = async (model: Model, real: Real, amount: bigint, sandboxScenario: object | undefined) => {
  const receiver = { customerId: real.pair.b.customerId };
  const input = { senderUmaAddress: '$success.usd@sandbox.uma.money', receiver, currency: 'USD', amount };
  return (await send(model, real, 'sandboxReceiveUma', { ...input, sandboxScenario })).transaction;
};

const receive = fc.tuple(amount, fc.constantFrom<Outcome>('ok', 'ok', 'fail', 'reject')).map(([sum, outcome]) =>
  command(`receive ${sum} ${outcome}`, async (model, real) => {
    const transaction = await announced(model, real, sum, outcomes[outcome].scenario);
    model.waiting.push({ id: transaction.id, amount: sum, outcome, sent: undefined });
  }),
);

/** What becomes of the pay request after a receiver has been looked up. */
type PayRequest = 'comes' | 'fails' | 'never comes';

const lookedUp = fc.tuple(amount, fc.constantFrom<PayRequest>('comes', 'fails', 'never comes')).map(([sum, request]) =>
  command(`receive ${sum} (pay request ${request})`, async (model, real) => {
    const transaction = await announced(model, real, sum, {
      step: 'PAY_REQUEST',
      ...(request === 'fails' && { failureReason: 'LNURLP_FAILED' }),
      ...(request === 'never comes' && { delayMs: 3_600_000 }),
    });
    if (request === 'fails') return real.world.ends(transaction.id, 'FAILED');
    if (request === 'never comes') {
      await real.world.passPayRequest(transaction.id);
      return real.world.ends(transaction.id, 'EXPIRED');
    }
    await real.world.until(
      `the pay request of ${transaction.id}`,
      (change) => change.id === transaction.id && change.status === 'PENDING',
    );
    model.waiting.push({ id: transaction.id, amount: sum, outcome: 'ok', sent: undefined });
  }),
);

const moveAccount = fc.constantFrom<AccountStatus>('ACTIVE', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE').map((status) =>
  command(`the external account becomes ${status}`, async (model, real) => {
    // An INACTIVE account cannot be reviewed again.
    if (model.outside === 'INACTIVE' && status === 'UNDER_REVIEW') return;
    await real.world.setAccountStatus(real.pair.a.outsideUsd, status);
    model.outside = status;
  }),
);

/** Records a payment whose money is now in suspense. */
function suspend(model: Model, outcome: Outcome, id: string, amount: bigint): void {
  if (outcome === 'stuck') model.suspended.push({ id, amount, released: false });
}

const suspendedOf = ({ suspended }: Model) => suspended;

const release = position.map((at) =>
  commandOn('release', suspendedOf, at, async (suspended, model, real) => {
    const { kind } = await releaseSuspense(real.world.database, suspended.id, tester);
    expect(kind).toBe(suspended.released ? 'paid-before' : 'paid');
    if (!suspended.released) model.balances.aUsd += suspended.amount;
    suspended.released = true;
  }),
);

type Verdict = 'approve' | 'reject' | 'neither';

/** Gives a verdict on a waiting payment, and waits until both sides have reached a final status. */
export async function decide(model: Model, real: Real, waiting: Waiting, verdict: Verdict): Promise<void> {
  const { id, amount, outcome, sent } = waiting;
  model.waiting.splice(model.waiting.indexOf(waiting), 1);
  if (verdict === 'neither') await real.world.passApproval(id);
  else await send(model, real, `${verdict}Transaction`, { transactionId: id });
  const decided: Outcome = { approve: outcome, reject: 'reject' as const, neither: 'fail' as const }[verdict];
  const expected = outcomes[decided];
  await real.world.ends(id, expected.status);
  if (expected.status === 'COMPLETED') model.balances.bUsd += amount;
  if (!sent) return;
  await real.world.ends(sent.id, expected.status);
  if (expected.back) model.balances.aUsd += sent.amount;
  suspend(model, decided, sent.id, sent.amount);
}

const waitingOf = ({ waiting }: Model) => waiting;

const decision = fc
  .tuple(position, fc.constantFrom<Verdict>('approve', 'approve', 'reject', 'neither'))
  .map(([at, verdict]) =>
    commandOn(verdict, waitingOf, at, (waiting, model, real) => decide(model, real, waiting, verdict)),
  );

const replay = fc.constant(
  command(
    'replay',
    async (model, real) => {
      if (!model.last) return;
      const { name, input, code } = model.last;
      const result = await real.world.platform.act(name, input, '');
      expect(result.code, `the repeat of ${name}`).toBe(code);
      if (code === undefined) expect(result.replayed).toBe(true);
    },
    ({ last }) => last !== undefined,
  ),
);

/** Every command that a sequence can contain. Quotes are the most frequent, because many other commands need one. */
export const commands = [
  fund,
  transferOut,
  transferIn,
  transferInternal,
  ...Array<typeof makeQuote>(5).fill(makeQuote),
  ...Array<typeof execute>(3).fill(execute),
  ...Array<typeof sandboxSend>(4).fill(sandboxSend),
  expire,
  cancel,
  receive,
  lookedUp,
  moveAccount,
  release,
  ...Array<typeof decision>(3).fill(decision),
  replay,
];
