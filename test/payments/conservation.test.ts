import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from '../../src/ledger/audit.ts';
import { act, quote } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { balanceOf, fund, internalAccount, makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 0 });
});
afterAll(() => t.stop());

const suffixes = ['000', '002', '003', '004'];

/** A payment with what it asked for: the money that must leave or enter each account, if it comes to pass. */
interface Payment {
  readonly id: string;
  readonly from: string | null;
  readonly to: string | null;
}

async function transfer(
  mutation: 'transferOut' | 'transferIn',
  scene: Scene,
  amount: number,
): Promise<Payment | undefined> {
  const [from, to] = mutation === 'transferOut' ? [scene.usd, scene.outsideUsd] : [scene.outsideUsd, scene.usd];
  const input = { sourceAccountId: from, destinationAccountId: to, amount };
  const { transaction } = await act(t.platform, mutation, input, 'transaction { id }');
  return paymentOf(transaction?.id, from, to);
}

async function convert(from: string, to: string, side: string, amount: number): Promise<Payment | undefined> {
  const quoted = await quote(t.platform, {
    source: { account: { accountId: from } },
    destination: { account: { accountId: to } },
    lockedCurrencySide: side,
    lockedCurrencyAmount: amount,
    immediatelyExecute: true,
  });
  return paymentOf(quoted.transaction?.id, from, to);
}

const inside = (id: string) => (id.startsWith('InternalAccount') ? id : null);
const paymentOf = (id: string | undefined, from: string, to: string): Payment | undefined =>
  id === undefined ? undefined : { id, from: inside(from), to: inside(to) };

/** The payment as it ended. */
async function ended(id: string): Promise<Data> {
  const updates = 'subscription ($id: ID!) { transactionUpdates(transactionId: $id) { terminal } }';
  for await (const _ of t.platform.watch(updates, { id }));
  const { transaction } = await t.platform.ask(
    'query ($id: ID!) { transaction(id: $id) { status sentAmount { amount } receivedAmount { amount } refund { amount { amount } } } }',
    { id },
  );
  return transaction;
}

const step = fc.record({
  kind: fc.constantFrom('fund', 'out', 'in', 'convert', 'convertOut'),
  amount: fc.integer({ min: 100, max: 60_000 }),
  side: fc.constantFrom('SENDING', 'RECEIVING'),
});

test('over random histories, failures included, money is neither made nor lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 12 }),
      fc.constantFrom(...suffixes),
      async (steps, suffix) => {
        const scene = await makeScene(t.platform, 50_000n, suffix);
        const accounts = [scene.usd, scene.eur, await internalAccount(t.platform, scene.customerId, 'JPY')];
        const expected = new Map(accounts.map((account) => [account, account === scene.usd ? 50_000n : 0n]));
        const add = (account: string | null, amount: bigint) => {
          if (account) expected.set(account, (expected.get(account) ?? 0n) + amount);
        };
        const acts: Record<string, (amount: number, side: string) => Promise<Payment | undefined>> = {
          fund: async (amount) => {
            await fund(t.platform, scene.eur, BigInt(amount));
            add(scene.eur, BigInt(amount));
            return undefined;
          },
          out: (amount) => transfer('transferOut', scene, amount),
          in: (amount) => transfer('transferIn', scene, amount),
          convert: (amount, side) => convert(scene.usd, accounts[amount % 2 === 0 ? 1 : 2] ?? '', side, amount),
          convertOut: (amount, side) => convert(scene.eur, scene.outsideUsd, side, amount),
        };
        // All at once: what each of them may do is decided by the order in which they get the lock.
        const payments = await Promise.all(steps.map(({ kind, amount, side }) => acts[kind]?.(amount, side)));
        for (const payment of payments) {
          if (!payment) continue;
          const { status, sentAmount, receivedAmount, refund } = await ended(payment.id);
          expect(['COMPLETED', 'FAILED']).toContain(status);
          if (status === 'COMPLETED') {
            add(payment.from, -BigInt(sentAmount.amount));
            add(payment.to, BigInt(receivedAmount.amount));
          } else if (payment.from) {
            expect(refund.amount).toEqual(sentAmount);
          }
        }
        for (const account of accounts) {
          expect([account, await balanceOf(t.platform, account)]).toEqual([account, expected.get(account)]);
        }
        const breaches = await audit({ url: t.databaseUrl });
        expect(breaches).toEqual([]);
      },
    ),
    { numRuns: 10, interruptAfterTimeLimit: 15_000 },
  );
});
