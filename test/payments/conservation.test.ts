import fc from 'fast-check';
import { expect, test } from 'vitest';
import { audit } from '../../src/domain/ledger/audit.ts';
import { between, ended, quote, transfer } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { balanceOf, fund, internalAccount, makeScene } from '../setup/scene.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 0 });

const suffixes = ['000', '002', '003', '004'];

async function convert(from: string, to: string, side: string, amount: number): Promise<Payment> {
  const quoted = await quote(
    t.platform,
    between(from, to, amount, { lockedCurrencySide: side, immediatelyExecute: true }),
  );
  return paymentOf(quoted.transaction?.id, from, to);
}

const inside = (id: string) => (id.startsWith('InternalAccount') ? id : null);
/** A payment with the accounts on this installation that its money leaves or enters if the payment succeeds. */
const paymentOf = (id: string | undefined, from: string, to: string) =>
  id === undefined ? undefined : { id, from: inside(from), to: inside(to) };
type Payment = ReturnType<typeof paymentOf>;

const step = fc.record({
  kind: fc.constantFrom('fund', 'out', 'in', 'convert', 'convertOut'),
  amount: fc.integer({ min: 100, max: 60_000 }),
  side: fc.constantFrom('SENDING', 'RECEIVING'),
});

test('over random histories, failures included, money is neither created nor destroyed', async () => {
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
        const acts: Record<string, (amount: number, side: string) => Promise<Payment>> = {
          fund: async (amount) => {
            await fund(t.platform, scene.eur, BigInt(amount));
            add(scene.eur, BigInt(amount));
            return undefined;
          },
          out: async (amount) =>
            paymentOf((await transfer(t.platform, 'transferOut', scene, amount)).id, scene.usd, scene.outsideUsd),
          in: async (amount) =>
            paymentOf((await transfer(t.platform, 'transferIn', scene, amount)).id, scene.outsideUsd, scene.usd),
          convert: (amount, side) => convert(scene.usd, accounts[amount % 2 === 0 ? 1 : 2] ?? '', side, amount),
          convertOut: (amount, side) => convert(scene.eur, scene.outsideUsd, side, amount),
        };
        // All concurrently: the order in which they get the lock decides which of them succeed.
        const payments = await Promise.all(steps.map(({ kind, amount, side }) => acts[kind]?.(amount, side)));
        for (const payment of payments) {
          if (!payment) continue;
          const { status, sentAmount, receivedAmount, refund } = await ended(t.platform, payment.id);
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
        expect(await audit({ url: t.databaseUrl })).toEqual([]);
      },
    ),
    { numRuns: 10 },
  );
});
