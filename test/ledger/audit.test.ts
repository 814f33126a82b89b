import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { approveAdjustment, proposeAdjustment } from '../../src/domain/commands/adjustments.ts';
import { audit, auditRules, type Breach, runAudit } from '../../src/domain/ledger/audit.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';
import { between, moving } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { connect, openClient, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { settledByHand } from '../setup/settled-by-hand.ts';

/** A sound ledger with one object of every kind, followed by a checkpoint. Each test damages a copy. */
let before: ThrowawayDatabase;
/** The same ledger, with another object of every kind after the checkpoint. */
let after: ThrowawayDatabase;

beforeAll(async () => {
  before = await freshDatabase();
  let t = await startTestGateway({ SANDBOX_QUOTE_SECONDS: 0 }, before.url);
  const { platformId, authorization } = await t.newPlatform('audited');
  const scene = await oneOfEverything(t, connect(t.url, platformId, authorization));
  const sound = { breaches: [], coversFrom: null, isCheckpoint: true };
  expect(await runAudit(t.gateway.payments.database)).toMatchObject(sound);
  // Stopping the gateway also audits the ledger.
  await t.stop();

  after = await copyOf(before);
  t = await startTestGateway({ SANDBOX_QUOTE_SECONDS: 0 }, after.url);
  const again = await oneOfEverything(t, connect(t.url, platformId, authorization));
  await connect(t.url, platformId, authorization).succeed('transferInternal', moving(scene.usd, again.usd, 7));
  await t.stop();
});
afterAll(async () => {
  await before.drop();
  await after.drop();
});

/** Copies a database, and keeps the copy from counting as restored, which would start a new epoch. */
async function copyOf({ url }: ThrowawayDatabase): Promise<ThrowawayDatabase> {
  const copy = await createThrowawayDatabase(inject('server').url, new URL(url).pathname.slice(1));
  await execute(copy.url, 'update feed_epoch set server = server_name()');
  return copy;
}

async function execute(url: string, text: string, first = 'select') {
  const client = await openClient(url);
  try {
    await client.query(first);
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function oneOfEverything(t: TestGateway, platform: TestPlatform) {
  const scene = await platform.makeScene(10_000n);
  const closed = await platform.makeScene(10_000n, '003');
  const limits = [
    { period: 'DAY', currency: 'USD', amount: { units: 100_000 } },
    { period: 'DAY', currency: 'USDC', amount: { units: 1_000_000_000_000 } },
    { period: 'LAST_24_HOURS', payments: 50 },
  ];
  await platform.succeed('setPolicy', { subjectId: scene.customerId, limits });
  // Payments: one delivered, one failed and refunded, and one paid after its quote had expired.
  for (const to of [scene.outsideEur, closed.outsideEur]) {
    const made = await platform.quote(between(scene.usd, to, 1_000, { immediatelyExecute: true }));
    await platform.ended(made.transaction.id);
  }
  const late = await fundedQuote(platform, scene);
  await platform.ended(late.transactionId);
  expect(await sendDeposit(platform, late)).toMatchObject({ transaction: { status: 'EXPIRED' } });
  await platform.succeed('transferInternal', moving(scene.usd, closed.usd, 100));
  const { database } = t.gateway.payments;
  const correction = { accountId: scene.usd, amount: 5n, currency: 'USD' };
  const proposed = await proposeAdjustment(database, correction, { by: 'maker', act: 'test', reason: 'a test' });
  await approveAdjustment(database, `Adjustment:${proposed.id}`, { by: 'checker', act: 'test' });
  await settledByHand(t, platform, scene);
  const { id: transactionId } = await platform.announce(scene.customerId, 5_000);
  await platform.succeed('approveTransaction', { transactionId });
  await platform.ended(transactionId);
  const [clerk, boss] = [await platform.serverOf('VIEW', 'TRANSACT'), await platform.serverOf('VIEW', 'APPROVE')];
  await platform.succeed('setPolicy', { subjectId: clerk.tokenId, approval: { always: true } });
  const { id } = await clerk.pay(scene, 50);
  await boss.succeed('approveTransaction', { transactionId: id });
  await platform.ended(id);
  return scene;
}

const moreTo = (system: string) => `insert into posting (platform_id, journal_id, leg, system, currency, amount)
  select j.platform_id, j.id, s.leg, s.system, 'EUR', s.amount from journal j,
    (values (98, '${system}'::system_account, 5), (99, 'OUTSIDE'::system_account, -5)) as s(leg, system, amount)
  where j.kind = 'delivery'`;

const depositFor = (payments: string) => `
  with made as (insert into journal (platform_id, transaction_id, kind, created_at)
    select t.platform_id, t.id, 'deposit', now() from transaction t where ${payments} returning *)
  insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, balance_after, account_version)
  select m.platform_id, m.id, s.leg, case when s.leg = 1 then a.id end, case when s.leg = 2 then 'OUTSIDE'::system_account end, 'USD',
    s.amount, case when s.leg = 1 then 5 end, case when s.leg = 1 then 99 + row_number() over () end
  from made m join lateral (select id from account a where a.platform_id = m.platform_id and a.posted > 0 limit 1) a on true,
    (values (1, 5), (2, -5)) as s(leg, amount)`;

/** SQL statements that break a rule in different ways, keyed by the start of the rule's text. */
const plants: Readonly<Record<string, readonly string[]>> = {
  'all postings of a currency sum to zero': [
    `insert into posting (platform_id, journal_id, leg, system, currency, amount)
     select platform_id, id, 99, 'FEES', 'USD', 5 from journal order by id desc limit 1`,
  ],
  'every journal has at least two legs and sums to zero': [
    `insert into journal (platform_id, kind, created_at) select platform_id, 'empty', now() from journal limit 1`,
  ],
  "an account's balance is the sum of its postings": ['update account set posted = posted + 1 where posted > 0'],
  'the chain of balances': [
    'update posting set balance_after = balance_after + 1 where account_id is not null and amount < 0',
  ],
  "an account's entries are dated in the order of its balances": [
    `update journal set created_at = created_at - interval '1 minute' where kind = 'adjustment'`,
  ],
  'no balance was below zero': ['update posting set balance_after = -1 where account_id is not null and amount < 0'],
  'a posting is in the currency of its account': [`update posting set currency = 'EUR' where account_id is not null`],
  "on every account, a payment's postings sum to what its row and status require": [
    // One unit of a fee, booked to the wrong account.
    `update posting p set amount = amount + case p.system when 'FEES' then -1 else 1 end from journal j
     where j.platform_id = p.platform_id and j.id = p.journal_id and j.kind = 'debit' and p.currency = 'USD'
       and p.system in ('FEES', 'LIQUIDITY')`,
    // A refund paid to the platform's own account.
    `update posting p set account_id = a.id from journal j, account a
     where j.platform_id = p.platform_id and j.id = p.journal_id and j.id = (select id from journal where kind = 'refund' order by id desc limit 1) and p.account_id is not null
       and a.platform_id = p.platform_id and a.kind = 'INTERNAL' and a.customer_id is null and a.currency = 'USD'`,
    moreTo('CLEARING'),
    moreTo('SUSPENSE'),
    // A payment whose outcome is missing from the ledger, and a payment with a different outcome in the ledger.
    `update transaction set status = 'PROCESSING' where status = 'COMPLETED'`,
    `update transaction set status = 'COMPLETED', settled_at = now() where status = 'FAILED'`,
    // A difference that does not match the amount debited by the provider.
    'update rail_case set moved_out = moved_out + 1 where moved_out is not null',
  ],
  'a payment takes at most one deposit': [
    depositFor(`t.status = 'EXPIRED'`),
    depositFor(`t.status = 'COMPLETED' and t.quote_id is not null`),
  ],
  "the platform's part of the fees": [`update quote set platform_fee = 1 where status = 'COMPLETED'`],
  'a refund is the full sent amount': [
    'update transaction set refund_amount = refund_amount - 1 where refund_amount is not null',
    // A payment that failed after its debit, but whose row has no refund.
    `update transaction set refund_reference = null, refund_amount = null, refund_initiated_at = null, refund_settled_at = null
     where refund_reference is not null`,
  ],
  'a transfer between internal accounts has one journal': [
    // A transfer that arrived with a different amount, and one booked as a different kind.
    `update transaction t set received_amount = received_amount - 1 from arrival a
     where a.platform_id = t.platform_id and a.transaction_id = t.id`,
    `update journal set kind = 'debit' where kind = 'transfer'`,
  ],
  'a journal without a payment is money that arrived from outside': [
    `update posting p set system = 'FEES' from journal j
     where j.platform_id = p.platform_id and j.id = p.journal_id and j.transaction_id is null and p.system = 'OUTSIDE'`,
  ],
  'each credited deposit at a provider has exactly one payment': [
    `insert into rail_deposit (platform_id, id, reference, held_at, began_at, amount, currency, account_id, status, transaction_id)
     select t.platform_id, t.id, 'there', 'there', now(), t.received_amount + 1, t.received_currency, t.destination_account_id, 'CREDITED', t.id
     from transaction t where t.destination_account_id is not null order by t.id desc limit 1`,
  ],
  'a payment that needed approval began only after it was approved': [
    // A payment that started without its approval, and one approved by the token that requested it.
    'update transaction set decided_by_id = null',
    `update transaction t set created_by = 'ApiToken:' || a.created_by_id from api_token a where a.id = t.decided_by_id and t.created_by is not null`,
  ],
  'each adjustment is booked once': [
    // A correction with a different amount, and one without an approval.
    'update adjustment set amount = amount + 1',
    "update adjustment set status = 'PROPOSED', decided_by = null, decided_at = null, journal_id = null",
  ],
  'DIFFERENCES has only differences from payments that an operator settled': [
    'update rail_case set moved_out = null where moved_out is not null',
    "update posting set system = 'DIFFERENCES' where system = 'FEES'",
  ],
  'a policy has counted the amount that a payment sends': [
    'update policy_use set amount = amount + 1',
    'update policy_use set released_at = now() where released_at is null',
  ],
  'no policy window was ever exceeded': [
    ...['PAYMENT', 'DAY', 'MONTH', 'LAST_24_HOURS', 'LAST_30_DAYS'].map(
      (period) => `update policy set limit_periods = '{${period}}', limit_currencies = '{USD}', limit_maxima = '{99}'`,
    ),
    `update policy set limit_periods = '{DAY}', limit_currencies = '{""}', limit_maxima = '{1}'`,
    // A released payment no longer counts, but it did until its release.
    `with delivered as (delete from policy_use where released_at is null)
     update policy set limit_periods = '{DAY}', limit_currencies = '{""}', limit_maxima = '{0}'`,
  ],
  'the stored usage of a policy window is the sum': ['delete from policy_use'],
  'the statuses of a quote and its transaction agree': [`update quote set status = 'FAILED'`],
  'the feed of each platform has no gaps': [
    'delete from event e using feed_head f where f.platform_id = e.platform_id and e.sequence = f.sequence - 1',
  ],
  'each change to a transaction has one event': [
    `update event set previous_status = 'CREATED' where type = 'OUTGOING_PAYMENT' and status = 'COMPLETED'`,
  ],
};
const breaches = Object.entries(plants).flatMap(([rule, all]) => all.map((plant) => [rule, plant] as const));

test('there is a planted breach for every rule', () => {
  expect(Object.keys(plants)).toHaveLength(auditRules);
});

async function spoiled<T>(ledger: ThrowawayDatabase, plant: string, work: (copy: ThrowawayDatabase) => Promise<T>) {
  const copy = await copyOf(ledger);
  try {
    // Bypasses the triggers, as an intruder or a bug might.
    const { rowCount } = await execute(copy.url, plant, 'set session_replication_role = replica');
    expect(rowCount).toBeGreaterThan(0);
    return await work(copy);
  } finally {
    await copy.drop();
  }
}

async function run(url: string, full = false) {
  const database = openDatabase({ url, role: 'gateway_work', poolSize: 2 });
  try {
    return await runAudit(database, { full });
  } finally {
    await database.close();
  }
}

function expectFound(found: readonly Breach[], rule: string): void {
  const breach = found.find((one) => one.rule.startsWith(rule));
  expect(breach?.rows.length).toBeGreaterThan(0);
  expect(breach?.rows[0]).toHaveProperty('platform_id');
}

test.each(breaches)('an audit of all rows finds damage to rows from before the checkpoint: %s', async (rule, plant) => {
  const { breaches: found, coversFrom, isCheckpoint } = await spoiled(before, plant, ({ url }) => run(url, true));
  expectFound(found, rule);
  expect({ coversFrom, isCheckpoint }).toEqual({ coversFrom: null, isCheckpoint: false });
});

test.each(breaches)('both kinds of audit find damage to rows from after the checkpoint: %s', async (rule, plant) => {
  await spoiled(after, plant, async (copy) => {
    const all = await audit(copy);
    expectFound(all, rule);
    const { breaches: since, coversFrom } = await run(copy.url);
    expectFound(since, rule);
    expect(coversFrom).toBeInstanceOf(Date);
    expect(since.map((breach) => breach.rule)).toEqual(all.map((breach) => breach.rule));
  });
});

test('an entry dated before an earlier one is not a breach if the clock was set back in between', async () => {
  const plant = `with dated as (
      update journal set created_at = created_at - interval '1 minute' where kind = 'adjustment' returning platform_id, id)
    update stored_event e set occurred_at = e.occurred_at - interval '1 minute'
    from dated d join posting p on p.platform_id = d.platform_id and p.journal_id = d.id
    where e.platform_id = p.platform_id and e.account_id = p.account_id and e.version = p.account_version`;
  expect(await spoiled(after, plant, audit)).toEqual([]);
});
