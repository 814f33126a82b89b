import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { approveAdjustment, proposeAdjustment } from '../../src/domain/commands/adjustments.ts';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import { between, moving } from '../setup/acts.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, tester, testGateway, uuidIn } from '../setup/gateway.ts';
import { chargeFees, usAccount } from '../setup/scene.ts';
import { settledByHand } from '../setup/settled-by-hand.ts';

// The auditor checks the sum of all of a payment's journals. This test checks each journal against the list in decision
// 58, which it reads from the document itself.

const funded = 500_000n;
const t = await testGateway();
/** A platform that earns a share of the fees. */
const platform = await t.newPlatform('earning');
await chargeFees(t, platform, 25n, '0.01');
const scene = await platform.makeScene(funded);

/** Pays a quote from the scene's account, and waits until the payment has reached a final status. */
async function payQuote(sandboxScenario?: object, to: string = scene.outsideEur, end?: string): Promise<Data> {
  const after = await platform.feedEnd();
  const made = await platform.quote(between(scene.usd, to, 10_000, { immediatelyExecute: true, sandboxScenario }));
  if (end === undefined) return platform.ended(made.transaction.id);
  return platform.seen(after, ({ id, status }) => id === made.transaction.id && status === end);
}

async function receiveAndPassOn(): Promise<Data> {
  const { customerId } = await platform.makeScene(0n);
  const asDefault = { defaultUmaDepositAccount: true };
  await platform.externalAccount(customerId, 'USD', usAccount('55500100'), asDefault);
  const { id: transactionId } = await platform.announce(customerId, 5_000);
  await platform.succeed('approveTransaction', { transactionId });
  return platform.ended(transactionId);
}

async function makePayments(): Promise<void> {
  const other = await platform.makeScene(0n);
  for (const to of [scene.outsideEur, scene.eur, other.eur]) {
    expect(await payQuote(undefined, to)).toMatchObject({ status: 'COMPLETED' });
  }
  expect(await payQuote({ failureReason: 'OFFRAMP_FAILED' })).toMatchObject({ status: 'FAILED' });
  expect(await payQuote({ returnAfterMs: 0 }, scene.outsideEur, 'REFUNDED')).toMatchObject({ status: 'REFUNDED' });
  const stuck = await payQuote({ failureReason: 'OFFRAMP_FAILED', refundFails: true });
  expect(await releaseSuspense(t.gateway.payments.database, stuck.id, tester)).toMatchObject({ kind: 'paid' });
  const deposited = await fundedQuote(platform, scene, 'USD');
  await sendDeposit(platform, deposited);
  expect(await platform.ended(deposited.transactionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await platform.ended((await platform.pay(scene)).id)).toMatchObject({ status: 'COMPLETED' });
  expect(await receiveAndPassOn()).toMatchObject({ status: 'COMPLETED' });
  await platform.succeed('transferInternal', moving(scene.usd, other.usd, 700));
  await settledByHand(t, platform, scene);
  const { database } = t.gateway.payments;
  const correction = { accountId: scene.usd, amount: funded, currency: 'USD' };
  const proposed = await proposeAdjustment(database, correction, { ...tester, reason: 'a test' });
  const id = `Adjustment:${proposed.id}`;
  expect(await approveAdjustment(database, id, { ...tester, by: 'another' })).toMatchObject({ status: 'APPROVED' });
}

/** A leg as the document describes it. Its amount is the sum of the amounts that the letters stand for. */
interface Term {
  readonly party: string;
  readonly letters: readonly (readonly [sign: bigint, letter: string])[];
}

function decidedLegs(): Map<string, Term[]> {
  const [, decision = ''] = readFileSync('docs/decisions.md', 'utf8').split('\n### Decision 58\n');
  const table = decision.matchAll(/^\| `(\w+)` \|[^|]*\| ([^|]+) \|$/gm);
  return new Map(
    [...table].map(([, kind = '', legs = '']) => [
      kind,
      legs.split(', ').map((leg) => ({
        party: leg.split(' ')[0] ?? '',
        letters: [...leg.matchAll(/([−+])([SFPRAD])\b/g)].map(
          ([, sign, letter = '']) => [sign === '+' ? 1n : -1n, letter] as const,
        ),
      })),
    ]),
  );
}

interface Journal {
  readonly kind: string;
  readonly amounts: Readonly<Record<string, { readonly amount: string; readonly currency: string }>>;
  readonly parties: Readonly<Record<string, string>>;
  readonly legs: readonly { readonly party: string; readonly currency: string; readonly amount: string }[];
}

const journals = `select j.kind,
    json_build_object(
      'S', json_build_object('amount', t.sent_amount::text, 'currency', t.sent_currency),
      'F', json_build_object('amount', coalesce(t.fees, 0)::text, 'currency', t.sent_currency),
      'P', json_build_object('amount', coalesce(q.platform_fee, 0)::text, 'currency', coalesce(t.sent_currency, '')),
      'R', json_build_object('amount', t.received_amount::text, 'currency', t.received_currency),
      'A', case t.type
        when 'OUTGOING' then json_build_object('amount', t.sent_amount::text, 'currency', t.sent_currency)
        when 'INCOMING' then json_build_object('amount', t.received_amount::text, 'currency', t.received_currency)
        else json_build_object('amount', $2::text, 'currency', 'USD') end,
      'D', (select json_build_object('amount', (c.moved_out - t.received_amount)::text, 'currency', t.received_currency)
        from rail_case c where c.platform_id = t.platform_id and c.transaction_id = t.id)) as amounts,
    json_build_object(
      'source', $3::text, 'platform', pa.id,
      'destination', case when d.kind = 'INTERNAL' and (t.type = 'INCOMING' or d.customer_id = t.customer_id) then d.id::text else 'OUTSIDE' end,
      'account', case when t.type = 'INCOMING' then d.id::text else $3::text end) as parties,
    (select json_agg(json_build_object('party', coalesce(p.account_id::text, p.system::text), 'currency', p.currency, 'amount', p.amount::text))
     from posting p where p.platform_id = j.platform_id and p.journal_id = j.id) as legs
  from journal j
  left join transaction t on t.platform_id = j.platform_id and t.id = j.transaction_id
  left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
  left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
  left join account pa on pa.platform_id = j.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null and pa.currency = 'USD'
  where j.platform_id = $1 order by j.id`;

function expectedLegs(terms: readonly Term[], { amounts, parties }: Journal): string[] {
  const sums = new Map<string, bigint>();
  for (const { party, letters } of terms) {
    for (const [sign, letter] of letters) {
      const { amount, currency } = amounts[letter] ?? { amount: '0', currency: '' };
      const key = `${parties[party] ?? party} ${currency}`;
      sums.set(key, (sums.get(key) ?? 0n) + sign * BigInt(amount));
    }
  }
  return [...sums].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`);
}

test('each kind of journal has exactly the legs that decision 58 lists', async () => {
  await makePayments();
  const decided = decidedLegs();
  const { pool } = t.gateway.payments.database;
  const values = [platform.platformId, funded, uuidIn(scene.usd)];
  const { rows } = await pool.query<Journal>(journals, values);
  for (const journal of rows) {
    const legs = journal.legs.map(({ party, currency, amount }) => `${party} ${currency} ${amount}`);
    const expected = expectedLegs(decided.get(journal.kind) ?? [], journal);
    expect([journal.kind, ...legs.sort()]).toEqual([journal.kind, ...expected.sort()]);
  }
  // Every kind has occurred. Only deliveries and returns have a leg for the platform's share of the fees.
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(decided.keys()));
  const earned = rows.filter(({ legs, parties }) => legs.some(({ party }) => party === parties.platform));
  expect(new Set(earned.map(({ kind }) => kind))).toEqual(new Set(['delivery', 'return']));
});
