import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let database: pg.Client;
beforeAll(async () => {
  // With three connections one of them commits: all plans share a lane.
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000, DATABASE_POOL: 3 });
  database = new pg.Client({ connectionString: t.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await t.stop();
});

const transferOut = `mutation ($input: TransferOutInput!) { transferOut(input: $input) {
  ... on TransferOutSuccess { replayed transaction { id } } ... on UserError { code message } } }`;

async function pay({ usd, outsideUsd }: Scene, more: object = {}): Promise<Data> {
  const input = { sourceAccountId: usd, destinationAccountId: outsideUsd, amount: 100, ...more };
  return (await t.platform.ask(transferOut, { input })).transferOut;
}

const uuid = (id: string) => id.split(':')[1];

test('payments that come at once share transactions, and each is the one that was asked for', async () => {
  const scenes = [await makeScene(t.platform, 10_000n), await makeScene(t.platform, 10_000n)];
  const asked = Array.from({ length: 40 }, (_, at) => ({ amount: at + 1, scene: scenes[at % 2] }));
  const paid = await Promise.all(asked.map(({ amount, scene }) => scene && pay(scene, { amount })));
  const { rows } = await database.query(
    `select t.id, t.sent_amount::int as amount, t.source_account_id as account, t.xmin::text as written from transaction t where t.id = any ($1)`,
    [paid.map(({ transaction }) => uuid(transaction.id))],
  );
  for (const [at, { amount, scene }] of asked.entries()) {
    const row = rows.find(({ id }) => id === uuid(paid[at].transaction.id));
    expect(row).toMatchObject({ amount, account: uuid(scene?.usd ?? '') });
  }
  expect(new Set(rows.map(({ written }) => written)).size).toBeLessThan(asked.length / 2);
});

test('of payments that share a transaction those are refused that the balance does not allow, and no others', async () => {
  const poor = await makeScene(t.platform, 250n);
  const rich = await makeScene(t.platform, 100_000n);
  const paid = await Promise.all(Array.from({ length: 30 }, (_, at) => pay(at % 3 === 0 ? poor : rich)));
  const codes = (of: number) => paid.filter((_, at) => (at % 3 === 0) === (of === 0)).map(({ code }) => code ?? 'PAID');
  expect(codes(0).toSorted()).toEqual([...Array(8).fill('INSUFFICIENT_BALANCE'), 'PAID', 'PAID']);
  expect(new Set(codes(1))).toEqual(new Set(['PAID']));
});

test('one key used many times at once has one effect and one answer', async () => {
  const scene = await makeScene(t.platform, 10_000n);
  const paid = await Promise.all(Array.from({ length: 20 }, () => pay(scene, { idempotencyKey: 'at-once' })));
  expect(new Set(paid.map(({ transaction }) => transaction.id)).size).toBe(1);
  expect(paid.filter(({ replayed }) => !replayed)).toHaveLength(1);
});

test('a payment whose account is held up elsewhere fails alone; those that came with it are made', async () => {
  const stuck = await makeScene(t.platform, 10_000n);
  const free = await makeScene(t.platform, 10_000n);
  const holder = new pg.Client({ connectionString: t.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [uuid(stuck.usd)]);
  const paid = await Promise.all([free, stuck, free, free, stuck, free].map((scene) => pay(scene)));
  await holder.query('rollback');
  await holder.end();
  expect(paid.map(({ code }) => code ?? 'PAID')).toEqual([
    'PAID',
    'SERVICE_UNAVAILABLE',
    'PAID',
    'PAID',
    'SERVICE_UNAVAILABLE',
    'PAID',
  ]);
});
