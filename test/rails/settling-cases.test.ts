import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RefusedByHand } from '../../src/domain/access/operator-acts.ts';
import { runReconciliation } from '../../src/domain/reconciliation/reconciliation.ts';
import { closeCases, listCases, settleCase } from '../../src/domain/settlement/cases.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import { between } from '../setup/acts.ts';
import { type Data, sandboxOf, tester, testGateway, uuidIn } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';
import { DeviatingProvider, type Deviation } from './deviating-provider.ts';

// When a provider moves an amount other than the promised one, an operator settles the payment as promised, and the
// difference is booked to a separate account (decision 95).

const provider = new DeviatingProvider();

const operator = { ...tester, by: 'Ada', act: 'cases settle', reason: 'the provider has taken a fee' };
const settled = (id: string) => settleCase(t.gateway.payments, id, operator);
const casesOf = async (id: string) =>
  (await listCases(t.gateway.payments.database)).filter(({ transactionId }) => uuidIn(id) === transactionId);

async function work(): Promise<void> {
  await makeDue(t);
  await settleDueOrders(t.gateway.payments, 100);
}

const move = (way: 'transferIn' | 'transferOut', amount: number): Promise<Data> =>
  platform.transfer(way, scene, amount);

async function quoted(from: string, to: string, amount: number): Promise<Data> {
  const made = await platform.quote(between(from, to, amount));
  await platform.execute(made.id);
  return made.transaction;
}

/** Every kind of payment that moves money through the provider. */
const ways: Readonly<Record<string, (amount: number) => Promise<Data>>> = {
  'a payout': (amount) => move('transferOut', amount),
  'a collection': (amount) => move('transferIn', amount),
  'a conversion that leaves': (amount) => quoted(scene.usd, scene.outsideEur, amount),
  'a conversion that stays': (amount) => quoted(scene.usd, scene.eur, amount),
  'a conversion for another customer': (amount) => quoted(scene.usd, other.eur, amount),
  'a pull and its payout': (amount) => quoted(scene.outsideUsd, scene.outsideEur, amount),
};

const fields = `status sentAmount { amount } receivedAmount { amount } source { ... on AccountSource { accountId } }
  destination { ... on AccountDestination { accountId } }
  ledgerEntries { kind system amount { amount currency { code } } }`;
const transactionOf = (id: string) => platform.fieldsOf('transaction', id, fields);
const statusOf = async (id: string): Promise<string> => (await transactionOf(id)).status;

/** This gateway runs no workers. The test does the background work itself. */
const t = await testGateway({ ROLE: 'serve' });
const { platform } = t;
Object.assign(sandboxOf(t.gateway.payments), provider.parts());
const scene = await platform.makeScene(0n);
const other = await platform.makeScene(0n);
const { id } = await move('transferIn', 5_000_000);
await work();
expect(await statusOf(id)).toBe('COMPLETED');

const customers = () => [scene.usd, scene.eur, other.eur];
async function balances(): Promise<Map<string, bigint>> {
  return new Map(await Promise.all(customers().map(async (id) => [id, await platform.balanceOf(id)] as const)));
}

async function differences(): Promise<Map<string, bigint>> {
  const { rows } = await t.owner.query(
    "select currency, sum(amount)::text as amount from posting where system = 'DIFFERENCES' group by currency",
  );
  return new Map(rows.map(({ currency, amount }) => [currency, BigInt(amount)]));
}

async function named(): Promise<readonly unknown[]> {
  const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  const { platformId } = platform;
  const outcome = await runReconciliation(t.gateway.payments, { platformId, environment: 'SANDBOX' }, period, 'Ada');
  return outcome.differences;
}

const notZero = (map: ReadonlyMap<string, bigint>) => [...map].filter(([, amount]) => amount !== 0n).sort();

/** Processes a payment until it is COMPLETED, settling each of its cases by hand. Returns the number of cases. */
async function toEnd(id: string): Promise<number> {
  for (let cases = 0; ; ) {
    await work();
    if ((await statusOf(id)) === 'COMPLETED') return cases;
    if ((await casesOf(id)).length === 0) continue;
    await settled(id);
    cases += 1;
  }
}

const deviation = fc.record({ taken: fc.bigInt({ min: -40n, max: 40n }), arrived: fc.bigInt({ min: -40n, max: 40n }) });

test('whatever a provider moves, customers get what was promised, and postings to DIFFERENCES make the ledgers match', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(ways)),
      fc.integer({ min: 100, max: 3_000 }),
      deviation,
      async (way, amount, deviates) => {
        const before = await balances();
        provider.deviation = deviates;
        const { id } = (await ways[way]?.(amount)) ?? {};
        await toEnd(id);
        provider.deviation = { taken: 0n, arrived: 0n };

        const { sentAmount, receivedAmount, source, destination, ledgerEntries } = await transactionOf(id);
        const expected = new Map(before);
        const add = (account: string, change: bigint) => {
          if (expected.has(account)) expected.set(account, (expected.get(account) ?? 0n) + change);
        };
        if (sentAmount) add(source.accountId, -BigInt(sentAmount.amount));
        add(destination.accountId, BigInt(receivedAmount.amount));
        expect(await balances()).toEqual(expected);

        const sums = new Map<string, bigint>();
        for (const { amount: leg } of ledgerEntries)
          sums.set(leg.currency.code, (sums.get(leg.currency.code) ?? 0n) + BigInt(leg.amount));
        expect(notZero(sums)).toEqual([]);
        expect(notZero(await differences())).toEqual(notZero(provider.beyond));
        expect(await named()).toEqual([]);
      },
    ),
    { numRuns: 16 },
  );
});

test('a payout for which the provider took too much is COMPLETED as promised, and the difference is recorded', async () => {
  provider.deviation = { taken: 5n, arrived: 0n };
  const { id } = await move('transferOut', 1_000);
  await work();
  expect(await statusOf(id)).toBe('PENDING');
  expect(await named()).toMatchObject([
    { fault: 'OTHER_AMOUNT', here: 'PENDING 10.00 USD', there: 'SETTLED 10.05 USD' },
  ]);
  expect(await settled(id)).toMatchObject({
    ...{ said: 'settled 10.00 USD for 10.05 USD', stands: 'ordered 10.00 USD' },
    ...{ differences: [{ currency: 'USD', amount: -5n }], short: undefined },
  });
  const { status, ledgerEntries } = await transactionOf(id);
  expect(status).toBe('COMPLETED');
  expect(ledgerEntries.filter(({ kind }: Data) => kind === 'DIFFERENCE')).toMatchObject([
    { system: 'OUTSIDE', amount: { amount: '5', currency: { code: 'USD' } } },
    { system: 'DIFFERENCES', amount: { amount: '-5', currency: { code: 'USD' } } },
  ]);
  const { database: books } = t.gateway.payments;
  expect(await books.prisma.operatorAct.findMany({ where: { subject: id } })).toMatchObject([
    {
      ...{ operator: 'Ada', act: 'cases settle', reason: operator.reason },
      after: { differences: ['-0.05 USD'], short: null },
    },
  ]);
  expect(await casesOf(id)).toEqual([]);
  const all = (await listCases(books, { all: true })).filter(({ transactionId }) => id.endsWith(transactionId));
  expect(all).toMatchObject([{ closedBy: 'Ada', closedReason: operator.reason, movedOut: 1_005n, movedIn: null }]);
  // The order is no longer polled, and cannot be settled a second time.
  await work();
  await expect(settled(id)).rejects.toThrow('is COMPLETED');
  expect(await named()).toEqual([]);
});

test('a payment can be settled by hand only if it has an open case and its rail reports the amounts it moved', async () => {
  provider.deviation = { taken: 3n, arrived: 0n };
  const { id } = await move('transferOut', 1_100);
  await expect(settled(id)).rejects.toThrow(`${id} has no open case about a different amount`);
  await work();
  provider.isAway = true;
  await expect(settled(id)).rejects.toThrow(/^the rail cannot be reached: connect ECONNREFUSED$/);
  provider.isAway = false;
  expect(await statusOf(id)).toBe('PENDING');
  await closeCases(t.gateway.payments.database, id, operator);
  await expect(settled(id)).rejects.toThrow(`${id} has no open case about a different amount`);
  await expect(settled('Transaction:nothing')).rejects.toThrow(RefusedByHand);

  provider.isSilent = true;
  const silent = await quoted(scene.usd, scene.outsideEur, 1_200);
  await work();
  expect(await casesOf(silent.id)).toMatchObject([{ said: 'settled an unreported amount for an unreported amount' }]);
  await expect(settled(silent.id)).rejects.toThrow('That cannot be the amount that it moved');
  provider.isSilent = false;
});

test('a payment that several people settle concurrently is settled once', async () => {
  provider.deviation = { taken: 9n, arrived: 0n };
  const before = (await differences()).get('USD') ?? 0n;
  const { id } = await move('transferOut', 1_300);
  await work();
  const answers = await Promise.allSettled([settled(id), settled(id), settled(id)]);
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect((await differences()).get('USD')).toBe(before - 9n);
});

/** Settles a payment by hand after the provider has moved amounts with the given deviation. */
async function settleWith(deviates: Deviation, { id }: Data) {
  provider.deviation = deviates;
  await work();
  return settled(id);
}

const settledPayout = async (taken: bigint) =>
  settleWith({ taken: taken - 1_000n, arrived: 0n }, await move('transferOut', 1_000));

test.each([
  ['nothing', 0n, 1_000n],
  ['the maximum balance', 9_000_000_000_000_000n, -8_999_999_999_999_000n],
])('a payout that took %s is settled, and its difference is booked', async (_what, taken, amount) => {
  expect(await settledPayout(taken)).toMatchObject({ differences: [{ currency: 'USD', amount }] });
});

test.each([
  ['minus one unit', -1n],
  ['one unit above the maximum balance', 9_000_000_000_000_001n],
])('a payout that took %s is not settled: such an amount needs investigation', async (_what, taken) => {
  await expect(settledPayout(taken)).rejects.toThrow('That cannot be the amount that it moved');
});

test.each([
  ['outside gets less, and the shortfall is reported', 'outsideEur', { currency: 'EUR', amount: 5n }],
  ['on this installation still gets the promised amount', 'eur', undefined],
] as const)('if less arrives than promised, a receiver %s', async (_what, to, short) => {
  const { short: reported } = await settleWith({ taken: 0n, arrived: -5n }, await quoted(scene.usd, scene[to], 1_000));
  expect(reported).toEqual(short);
});
