import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/database/database.ts';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/database/throwaway.ts';
import { audit, auditRules } from '../../src/ledger/audit.ts';
import { freshDatabase } from '../setup/database.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

/** A sound ledger with one of everything, which each test copies and spoils. */
let sound: ThrowawayDatabase;
beforeAll(async () => {
  sound = await freshDatabase();
  const t = await startTestGateway({}, sound.url);
  const platform = await t.newPlatform('audited');
  const scene = await makeScene(platform, 10_000n);
  const { createQuote } = await platform.ask(
    `mutation ($from: ID!, $to: ID!) { createQuote(input: { source: { account: { accountId: $from } },
       destination: { account: { accountId: $to } }, lockedCurrencySide: SENDING, lockedCurrencyAmount: 1000,
       immediatelyExecute: true }) { ... on CreateQuoteSuccess { quote { transaction { id } } } } }`,
    { from: scene.usd, to: scene.outsideEur },
  );
  const updates = 'subscription ($id: ID!) { transactionUpdates(transactionId: $id) { status } }';
  for await (const _ of platform.watch(updates, { id: createQuote.quote.transaction.id }));
  const client = new pg.Client({ connectionString: sound.url });
  await client.connect();
  // Two holds, of which one is captured.
  await client.query(`begin;
    insert into hold (platform_id, id, account_id, amount, created_at)
      select platform_id, uuid_v7(), id, n, clock_ms() from account, (values (100), (200)) as amounts(n) where posted > 1000;
    insert into journal (platform_id, kind, created_at) select platform_id, 'capture', clock_ms() from hold limit 1;
    insert into posting (platform_id, journal_id, leg, account_id, currency, amount, hold_id)
      select h.platform_id, j.id, 1, h.account_id, 'USD', -h.amount, h.id from hold h, journal j where j.kind = 'capture' and h.amount = 100;
    insert into posting (platform_id, journal_id, leg, system, currency, amount)
      select platform_id, id, 2, 'OUTSIDE', 'USD', 100 from journal where kind = 'capture';
    commit`);
  await client.end();
  // Audits, too.
  await t.stop();
});
afterAll(() => sound.drop());

const breaches: readonly (readonly [rule: RegExp, plant: string])[] = [
  [
    /^all postings of a currency sum to zero/,
    `insert into posting (platform_id, journal_id, leg, system, currency, amount)
     select platform_id, id, 99, 'FEES', 'USD', 5 from journal limit 1`,
  ],
  [
    /^every journal has at least two legs and sums to zero/,
    `insert into journal (platform_id, kind, created_at) select platform_id, 'empty', now() from journal limit 1`,
  ],
  [/^an account's balance is the sum of its postings/, 'update account set posted = posted + 1 where posted > 0'],
  [/^an account's held money is the sum of its open holds/, 'update account set held = held - 1 where held > 0'],
  [/^the chain of balances/, 'update posting set balance_after = balance_after + 1 where hold_id is not null'],
  [/^a posting is in the currency of its account/, `update posting set currency = 'EUR' where hold_id is not null`],
  [/^a captured hold has the posting/, `update hold set state = 'RELEASED' where state = 'CAPTURED'`],
  [
    /^an ended transaction holds no money under way/,
    `insert into posting (platform_id, journal_id, leg, system, currency, amount)
     select j.platform_id, j.id, s.leg, s.system, 'EUR', s.amount from journal j,
       (values (98, 'CLEARING'::system_account, 5), (99, 'OUTSIDE'::system_account, -5)) as s(leg, system, amount)
     where j.kind = 'delivery'`,
  ],
  [
    /^what waits in suspense is what the refunds/,
    `insert into posting (platform_id, journal_id, leg, system, currency, amount)
     select j.platform_id, j.id, s.leg, s.system, 'EUR', s.amount from journal j,
       (values (98, 'SUSPENSE'::system_account, 5), (99, 'OUTSIDE'::system_account, -5)) as s(leg, system, amount)
     where j.kind = 'delivery'`,
  ],
  [/^a quote and its transaction stand alike/, `update quote set status = 'FAILED'`],
  [/^the feed of each platform has no gaps/, 'delete from event where sequence = 3'],
  [
    /^each change of a transaction has one event/,
    `update event set previous_status = 'CREATED' where type = 'OUTGOING_PAYMENT' and status = 'COMPLETED'`,
  ],
];

test('there is a planted breach for every rule', () => {
  expect(breaches).toHaveLength(auditRules);
});

test.each(breaches)('the auditor finds a breach of: %s', async (rule, plant) => {
  const copy = await createThrowawayDatabase(inject('server').url, new URL(sound.url).pathname.slice(1));
  try {
    const client = new pg.Client({ connectionString: copy.url });
    await client.connect();
    // As an intruder or a bug below the triggers would do it.
    await client.query('set session_replication_role = replica');
    const { rowCount } = await client.query(plant);
    await client.end();
    expect(rowCount).toBeGreaterThan(0);

    const database = openDatabase({ url: copy.url, poolSize: 1 });
    const found = (await audit(database)).find((breach) => rule.test(breach.rule));
    await database.close();
    expect(found?.rows.length).toBeGreaterThan(0);
    expect(found?.rows[0]).toHaveProperty('platform_id');
  } finally {
    await copy.drop();
  }
});
