import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { Refusal } from '../../src/core/refusal.ts';
import { approveTransaction } from '../../src/domain/approvals/approvals.ts';
import { executeQuote, expireQuotes } from '../../src/domain/quotes/execute-quote.ts';
import { createQuote } from '../../src/domain/quotes/quotes.ts';
import { sandboxReceiveUma, sandboxSend } from '../../src/domain/sandbox/sandbox.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import { transferOut } from '../../src/domain/transfers/transfers.ts';
import type { Actor, Played } from './scheduler.ts';
import type { World } from './world.ts';

/** A race between actors. Each schedule plays the race on new rows. */
export interface Race {
  readonly name: string;
  prepare(world: World): Promise<Started>;
}

export interface Started {
  readonly actors: readonly Actor[];
  /** The payments of this race, as uuids. */
  readonly transactions: readonly string[];
  check(played: Played): Promise<void>;
}

/** Longer than a quote's lifetime, a platform's approval deadline, and a lease. */
const longerThanAll = 301;
const leaseEnds = 3;

/** Returns the outcome of a command: `done`, `replayed`, or the code of its refusal. An error fails the schedule. */
function outcomeOf(result: unknown): string {
  if (result instanceof Refusal) return result.code;
  if (result instanceof Error) throw result;
  return (result as { readonly replayed: boolean }).replayed ? 'replayed' : 'done';
}

function at({ steps }: Played, step: string): number {
  const position = steps.indexOf(step);
  return position === -1 ? Number.POSITIVE_INFINITY : position;
}

const clockStep = `clock: ${longerThanAll} s pass`;

const actor = (name: string, number: number, act: () => Promise<unknown>): Actor => ({ name, number, act });

const clock = (world: World, number: number, seconds = longerThanAll) =>
  actor('clock', number, () => world.pass(number, seconds));

const executor = (world: World, number: number, quoteId: string, key = randomUUID()) =>
  actor(`executor ${number}`, number, () => executeQuote(world.payments(number), world.caller, { quoteId }, key));

const expiry = (world: World, number: number) =>
  actor('expiry', number, () => expireQuotes(world.payments(number), 10));

const worker = (world: World, number: number) =>
  actor(`worker ${number}`, number, () => settleDueOrders(world.payments(number), 10));

async function newQuote(world: World, isDeposit = false) {
  const { usd, outsideEur, customerId } = world.scene;
  const { row } = await createQuote(world.payments(0), world.caller, {
    source: isDeposit
      ? { kind: 'REALTIME_FUNDING', customerId, currency: 'USDC' }
      : { kind: 'ACCOUNT', accountId: usd },
    destination: { kind: 'ACCOUNT', accountId: outsideEur },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: isDeposit ? 50_000_000n : 1_000n,
    immediatelyExecute: false,
  });
  return { id: `Quote:${row.id}`, transaction: row.transactionId };
}

interface Books {
  readonly status: string;
  readonly quoteStatus: string | null;
  readonly failureReason: string | null;
  /** In alphabetical order. */
  readonly journals: readonly string[];
}

async function booksOf(world: World, transaction: string): Promise<Books> {
  const { rows } = await world.client.query<Books>(
    `select t.status, t.failure_reason as "failureReason",
       (select q.status from quote q where q.platform_id = t.platform_id and q.id = t.quote_id) as "quoteStatus",
       array(select j.kind::text from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id order by 1) as journals
     from transaction t where t.platform_id = $1 and t.id = $2`,
    [world.caller.platformId, transaction],
  );
  const [row] = rows;
  if (!row) throw new Error('the payment is missing');
  return row;
}

const executed = { status: 'PROCESSING', quoteStatus: 'PROCESSING', journals: ['debit'] };

const aboutQuote = (
  name: string,
  actorsOf: (world: World, quoteId: string) => readonly Actor[],
  check: (played: Played, books: Books, world: World) => void,
  isDeposit = false,
): Race => ({
  name,
  async prepare(world) {
    const { id, transaction } = await newQuote(world, isDeposit);
    return {
      actors: actorsOf(world, id),
      transactions: [transaction],
      check: async (played) => check(played, await booksOf(world, transaction), world),
    };
  },
});

const bothOutcomes = ({ results }: Played, actor: string) =>
  [1, 2].map((number) => outcomeOf(results.get(`${actor} ${number}`)));

const executionAgainstExpiry = aboutQuote(
  'executing a quote against its expiry',
  (world, id) => [executor(world, 1, id), expiry(world, 2), clock(world, 3)],
  (played, books) => {
    const outcome = outcomeOf(played.results.get('executor 1'));
    const { done, found } = played.results.get('expiry') as { readonly found: number; readonly done: number };
    // The outcome depends on when the actor gets the lock, because it reads the clock immediately afterwards.
    const inTime = at(played, 'executor 1: locked') < at(played, clockStep);
    expect(outcome).toBe(inTime ? 'done' : 'QUOTE_EXPIRED');
    expect(done).toBe(inTime ? 0 : found);
    if (inTime) expect(books).toMatchObject(executed);
    else if (done === 1) expect(books).toMatchObject({ status: 'EXPIRED', quoteStatus: 'EXPIRED', journals: [] });
    else expect(books).toMatchObject({ status: 'PENDING', quoteStatus: 'PENDING', journals: [] });
  },
);

const twoExecutors = aboutQuote(
  'two executions of one quote',
  (world, id) => [executor(world, 1, id), executor(world, 2, id)],
  (played, books) => {
    expect(bothOutcomes(played, 'executor').toSorted()).toEqual(['CONFLICT', 'done']);
    expect(books).toMatchObject(executed);
  },
);

const oneKeyTwice = aboutQuote(
  'one execution, sent three times with the same key',
  (world, id) => {
    const key = randomUUID();
    return [1, 2, 3].map((number) => executor(world, number, id, key));
  },
  ({ results }, books) => {
    const outcomes = [...results.values()].map(outcomeOf).toSorted();
    expect(outcomes).toEqual(['done', 'replayed', 'replayed']);
    expect(books).toMatchObject(executed);
  },
);

const depositor = (world: World, number: number, quoteId: string) =>
  actor(`depositor ${number}`, number, () =>
    sandboxSend(world.payments(number), world.caller, { quoteId, currencyCode: 'USDC' }, randomUUID()),
  );

const depositAgainstExpiry = aboutQuote(
  'a deposit for a quote against its expiry',
  (world, id) => [depositor(world, 1, id), expiry(world, 2), clock(world, 3)],
  (played, books) => {
    expect(outcomeOf(played.results.get('depositor 1'))).toBe('done');
    const { done } = played.results.get('expiry') as { readonly done: number };
    if (at(played, 'depositor 1: locked') < at(played, clockStep))
      expect(books).toMatchObject({ ...executed, journals: ['debit', 'deposit'] });
    else {
      const status = done === 1 ? 'EXPIRED' : 'FAILED';
      const failureReason = 'QUOTE_EXPIRED';
      expect(books).toMatchObject({ status, quoteStatus: status, failureReason, journals: ['deposit'] });
    }
  },
  true,
);

const twoDeposits = aboutQuote(
  'two deposits for one quote, against its expiry',
  (world, id) => [depositor(world, 1, id), depositor(world, 2, id), expiry(world, 3), clock(world, 4)],
  (played, { journals }) => {
    expect(bothOutcomes(played, 'depositor').toSorted()).toEqual(['CONFLICT', 'done']);
    expect(journals.filter((kind) => kind === 'deposit')).toHaveLength(1);
  },
  true,
);

const approvalAgainstClock: Race = {
  name: 'an approval against its deadline',
  async prepare(world) {
    const { row } = await sandboxReceiveUma(world.payments(0), world.caller, {
      senderUmaAddress: '$alice@vasp.example.com',
      customerId: world.scene.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 100n,
    });
    // From now on the order waits for the platform's decision.
    await world.settleAll();
    const input = { transactionId: `Transaction:${row.id}` };
    return {
      actors: [
        actor('approval', 1, () => approveTransaction(world.payments(1), world.caller, input, randomUUID())),
        worker(world, 2),
        clock(world, 3),
      ],
      transactions: [row.id],
      async check(played) {
        const outcome = outcomeOf(played.results.get('approval'));
        await world.settleAll();
        const books = await booksOf(world, row.id);
        // The outcome depends on the clock, which is read while the lock is held.
        const inTime = at(played, 'approval: locked') < at(played, clockStep);
        expect(outcome).toBe(inTime ? 'done' : 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL');
        const timedOut = { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT', journals: [] };
        expect(books).toMatchObject(inTime ? { status: 'COMPLETED' } : timedOut);
      },
    };
  },
};

const leases = (withClock: boolean): Race => ({
  name: withClock ? 'two workers on one order, whose lease ends' : 'two workers on one order',
  async prepare(world) {
    const { usd, outsideUsd } = world.scene;
    const input = { sourceAccountId: usd, destinationAccountId: outsideUsd, amount: 100n };
    const { row } = await transferOut(world.payments(0), world.caller, input);
    const before = world.performed.length;
    return {
      actors: [worker(world, 1), worker(world, 2), ...(withClock ? [clock(world, 3, leaseEnds)] : [])],
      transactions: [row.id],
      async check({ results }) {
        const taken = [results.get('worker 1'), results.get('worker 2')].map(Number);
        const performed = world.performed.length - before;
        expect(performed).toBe(taken.reduce((sum, count) => sum + count));
        // Only one worker executes the order, unless the first worker's lease expires before the outcome is booked.
        if (withClock) expect([1, 2]).toContain(performed);
        else expect(taken.toSorted()).toEqual([0, 1]);
        await world.settleAll();
        expect(await booksOf(world, row.id)).toMatchObject({ status: 'COMPLETED', journals: ['debit', 'delivery'] });
      },
    };
  },
});

/** Three concurrent executions. The second and third wait in the first one's lane and share a transaction. */
const lane = (world: World, number: number, quoteIds: readonly string[]) =>
  actor(`lane ${number}`, number, () =>
    Promise.all(
      quoteIds.map((id) =>
        executor(world, number, id)
          .act()
          .catch((error: unknown) => error),
      ),
    ),
  );

const sharedTransactions: Race = {
  name: 'plans that share a transaction, against the same plans in reverse',
  async prepare(world) {
    const quotes = [await newQuote(world), await newQuote(world), await newQuote(world)];
    const ids = quotes.map(({ id }) => id);
    return {
      actors: [lane(world, 1, ids), lane(world, 2, ids.toReversed())],
      transactions: quotes.map(({ transaction }) => transaction),
      async check({ results }) {
        const outcomes = (results.get('lane 1') as unknown[]).map(outcomeOf);
        const others = (results.get('lane 2') as unknown[]).map(outcomeOf).toReversed();
        for (const [position, { transaction }] of quotes.entries()) {
          expect([outcomes[position], others[position]].toSorted()).toEqual(['CONFLICT', 'done']);
          expect(await booksOf(world, transaction)).toMatchObject(executed);
        }
      },
    };
  },
};

const sequencer = (world: World, number: number) =>
  actor(`sequencer ${number}`, number, async () => [
    await world.sequencer(number).step(),
    await world.sequencer(number).step(),
  ]);

const sequencers = aboutQuote(
  'two sequencers and an execution',
  (world, id) => [executor(world, 1, id), sequencer(world, 2), sequencer(world, 3)],
  ({ results }, books) => {
    for (const step of [results.get('sequencer 2'), results.get('sequencer 3')]) {
      if (step instanceof Error) throw step;
    }
    expect(outcomeOf(results.get('executor 1'))).toBe('done');
    expect(books).toMatchObject(executed);
  },
);

/** The model test/proof/payments.pml has the same actors, and its runs are replayed in this race. */
export const modelled = aboutQuote(
  'two executors, the expiry and the clock, as in the model',
  (world, id) => [executor(world, 1, id), executor(world, 2, id), expiry(world, 3), clock(world, 4)],
  (played, { status, journals }, world) => {
    const outcomes = bothOutcomes(played, 'executor');
    expect(journals).toEqual(status === 'PROCESSING' ? ['debit'] : []);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(journals.length);
    world.lastStatus = status;
    world.lastOutcomes = outcomes;
  },
);

export const races: readonly Race[] = [
  executionAgainstExpiry,
  twoExecutors,
  oneKeyTwice,
  depositAgainstExpiry,
  twoDeposits,
  approvalAgainstClock,
  leases(false),
  leases(true),
  sharedTransactions,
  sequencers,
];
