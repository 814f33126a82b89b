import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { positionOf } from '../../src/domain/events/cursor.ts';
import { Sequencer } from '../../src/domain/events/sequencer.ts';
import { createThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';
import { between, moving, usdToEur } from '../setup/acts.ts';
import { cursors, sequenceIn as sequenceOf } from '../setup/cursors.ts';
import { testDatabase } from '../setup/database.ts';
import {
  connect,
  type Data,
  openClient,
  startTestGateway,
  type TestGateway,
  type TestPlatform,
  testGateway,
  uuidIn,
} from '../setup/gateway.ts';
import { askOps, runOps } from '../setup/ops.ts';
import { commitEvents, nextOf, openRawSocket, type RawSocket, sequenced } from '../setup/streams.ts';

/** A database is restored from a backup. Changes made after the backup are lost, and are then made again. */

const original = await testDatabase();
let gateway = await startTestGateway({}, original.url);
const before = await gateway.newPlatform('restored');
const { platformId, authorization } = before;
const scene = await before.makeScene();
/** A quote created before the backup. */
const quoteId: string = (await before.quote(usdToEur(scene))).id;
await sequenced(gateway);
/** The end of the feed at the time of the backup. */
const backedUp = await before.feedEnd();
await gateway.stop();
// A database can be copied only while it has no connections. The copy is the backup.
const restored = await createThrowawayDatabase(inject('server').url, new URL(original.url).pathname.slice(1));
afterAll(() => restored.drop());
gateway = await startTestGateway({}, original.url);
const lostOnes = connect(gateway.url, platformId, authorization);
/** The ids of the orders for the payments made after the backup, by kind of payment. */
const lostOrders = await payAll(gateway, lostOnes, 'first');
await sequenced(gateway);
const lost = await lostOnes.feedEnd();
const firstAfter = 'query ($after: String) { events(first: 1, after: $after) { edges { cursor } } }';
const { events } = await lostOnes.ask(firstAfter, { after: backedUp });
const firstLost: string = events.edges[0].cursor;
expect((await gateway.owner.query('select epoch from feed_epoch')).rows).toEqual([{ epoch: null }]);
await gateway.stop();
const t = await testGateway({ METRICS_PORT: 0 }, restored.url);
const platform = connect(t.url, platformId, authorization);

/** Makes a payment of each kind. `attempt` is the idempotency key for executing the quote. Returns the order ids. */
async function payAll(gateway: TestGateway, through: TestPlatform, attempt: string) {
  const { outsideUsd, outsideEur } = scene;
  const atOnce = (idempotencyKey: string) => ({ immediatelyExecute: true, idempotencyKey });
  const quoted = async (operation: 'createQuote' | 'executeQuote', input: object) =>
    (await through.succeed(operation, input, 'quote { transaction { id } }')).quote.transaction.id;
  const payments = {
    transferOut: (await through.transfer('transferOut', scene, 100, { idempotencyKey: 'out' })).id,
    transferIn: (await through.transfer('transferIn', scene, 100, { idempotencyKey: 'in' })).id,
    atCreation: await quoted('createQuote', usdToEur(scene, atOnce('quote'))),
    pull: await quoted('createQuote', between(outsideUsd, outsideEur, 1_000, atOnce('pull'))),
    laterExecuted: await quoted('executeQuote', { quoteId, idempotencyKey: attempt }),
  };
  const orders: Record<string, string[]> = {};
  for (const [name, id] of Object.entries(payments)) {
    expect((await through.ended(id)).status).toBe('COMPLETED');
    const { rows } = await gateway.owner.query<{ id: string }>(
      'select id from rail_order where transaction_id = $1 order by kind, id',
      [uuidIn(id)],
    );
    orders[name] = rows.map((row) => row.id);
  }
  return orders;
}

describe('orders sent to rails after a restore', () => {
  test('a payment repeated with the same key has the same order id, so that the provider does not pay twice', async () => {
    expect(await payAll(t, platform, 'second')).toEqual(lostOrders);
    const ids = Object.values(lostOrders).flat();
    expect(lostOrders.pull).toHaveLength(2);
    expect(new Set(ids).size).toBe(6);
  });

  test('reusing a key whose record has expired creates a new payment with a separate order', async () => {
    const again = moving(scene.usd, scene.outsideUsd, 100, { idempotencyKey: 'again' });
    const ordersOf = async (): Promise<string[]> => {
      const { transaction, replayed } = await platform.succeed('transferOut', again, 'transaction { id }');
      expect(replayed).toBe(false);
      // Waits until the payment's changes are in the feed, because the tests below read it.
      await platform.ended(transaction.id);
      const text = 'select id from rail_order where transaction_id = $1';
      const { rows } = await t.owner.query(text, [uuidIn(transaction.id)]);
      await t.owner.query("delete from idempotency_record where key = 'again'");
      return rows.map(({ id }) => id);
    };
    const orders = [...(await ordersOf()), ...(await ordersOf()), ...(await ordersOf())];
    expect(new Set(orders).size).toBe(3);
  });
});

const sequenceIn = (cursor: string) => sequenceOf(platformId, cursor);

async function listed(after: string): Promise<string[]> {
  const query =
    'query ($after: String) { events(first: 100, after: $after) { edges { cursor } pageInfo { hasNextPage } } }';
  const { events } = await platform.ask(query, { after });
  const cursors: string[] = events.edges.map((edge: Data) => edge.cursor);
  return events.pageInfo.hasNextPage ? [...cursors, ...(await listed(cursors.at(-1) ?? ''))] : cursors;
}

const stream = 'subscription ($after: String) { events(after: $after) { cursor type } }';

/** Returns the code and text of the error in a stream's first message. */
async function refusal(subscription: string, variables: object): Promise<Data> {
  const messages = platform.watch(subscription, variables);
  const { errors } = await nextOf(messages);
  await messages.return?.();
  return { code: errors?.[0].extensions.code, message: errors?.[0].message };
}

const undone = {
  code: 'CURSOR_EXPIRED',
  message: expect.stringContaining('has been undone, because the database was restored'),
};

describe('feed cursors after a restore', () => {
  beforeAll(async () => {
    // Makes the feed grow past the numbers of all lost events, so that those numbers are used again.
    do {
      await platform.fund(scene.usd, 1n);
      await sequenced(t);
    } while (sequenceIn(await platform.feedEnd()) <= sequenceIn(lost));
  });

  test('are rejected by streams and lists if they point to lost events, even once their numbers are reused', async () => {
    for (const after of [firstLost, lost]) {
      expect(await refusal(stream, { after })).toEqual(undone);
      const rows =
        'subscription ($id: ID!, $after: String) { accountUpdates(of: { accountId: $id }, after: $after) { cursor } }';
      expect(await refusal(rows, { id: scene.usd, after })).toEqual(undone);
      const list = 'subscription ($after: String) { transactionChanges(after: $after) { cursor } }';
      expect(await refusal(list, { after })).toEqual(undone);
      for (const argument of ['after', 'before']) {
        const { data, errors } = await platform.send(
          `query ($cursor: String) { viewer { kind } events(${argument}: $cursor) { edges { cursor } } }`,
          { cursor: after },
        );
        expect(data).toEqual({ viewer: { kind: 'PLATFORM' }, events: null });
        expect(errors).toMatchObject([
          { message: undone.message, path: ['events'], extensions: { code: 'CURSOR_EXPIRED', field: argument } },
        ]);
      }
    }
  });

  test('are valid if they are from before the backup or from after the restore, and nothing is skipped', async () => {
    const end = await platform.feedEnd();
    const cursors = await listed(backedUp);
    expect(cursors.at(-1)).toBe(end);
    expect(cursors.map(sequenceIn)).toEqual(cursors.map((_cursor, index) => sequenceIn(backedUp) + BigInt(index + 1)));
    const streamed = platform.watch(stream, { after: backedUp });
    for (const cursor of cursors) expect((await nextOf(streamed)).data.events.cursor).toBe(cursor);
    await streamed.return?.();
    const middle = cursors[3] ?? '';
    expect(await listed(middle)).toEqual(cursors.slice(4));
    const resumed = platform.watch(stream, { after: middle });
    expect((await nextOf(resumed)).data.events.cursor).toBe(cursors[4]);
    await resumed.return?.();
  });

  test('do not let a client replay lost webhook events', async () => {
    const { endpoint } = await platform.succeed(
      'createWebhookEndpoint',
      { url: 'https://example.com/hook', eventTypes: ['OUTGOING_PAYMENT'] },
      'endpoint { id }',
    );
    const replay = (after: string) =>
      platform.act('replayWebhookEvents', { endpointId: endpoint.id, events: { between: { after } } }, 'count');
    expect(await replay(lost)).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('undone') });
    expect((await replay(backedUp)).__typename).toBe('ReplayWebhookEventsSuccess');
  });

  test('are also checked when a stream resumes by key, so that it never continues after a lost event', async () => {
    const resumeKey = randomUUID();
    const start = async () => {
      const raw = await openRawSocket(t.url, authorization);
      raw.send({ id: '1', type: 'subscribe', payload: { query: stream, extensions: { resumeKey } } });
      return raw;
    };
    const cursorOf = async (raw: RawSocket) => (await raw.receive('next')).payload.data.events.cursor;
    const first = await start();
    const begun = async () => (await t.owner.query('select position, epoch from resume_point')).rows;
    await expect.poll(() => begun()).toHaveLength(1);
    expect((await begun())[0].epoch).toBeGreaterThan(0);
    await platform.fund(scene.usd, 1n);
    const shown = await cursorOf(first);
    const { payload } = await first.receive('ping');
    first.send({ type: 'pong', payload });
    const { sequence, epoch } = positionOf(cursors, platformId, shown) ?? {};
    await vi.waitFor(async () => expect(await begun()).toEqual([{ position: String(sequence), epoch }]), {
      timeout: 5_000,
    });
    first.socket.terminate();
    await platform.fund(scene.usd, 1n);
    const second = await start();
    expect(sequenceIn(await cursorOf(second))).toBe(BigInt(sequence ?? 0) + 1n);
    second.socket.terminate();
    // The resume point is written once more when the connection ends.
    const isWritten = async () => (await t.owner.query('select from resume_point where sent is not null')).rowCount;
    await vi.waitFor(async () => expect(await isWritten()).toBe(1), { timeout: 60_000 });
    // An instance that kept running during the restore may still write this position.
    await t.owner.query('update resume_point set position = $1, epoch = null', [String(sequenceIn(lost))]);
    const third = await start();
    const { payload: refused } = await third.receive('next');
    third.socket.terminate();
    expect(refused.errors[0].extensions.code).toBe('CURSOR_EXPIRED');
  });
});

describe('subscribers of an instance that stays connected during a restore', () => {
  /** Returns SQL that writes `count` events. Nothing else writes events during these tests. */
  const write = (count: number) =>
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select '${platformId}', uuid_v7(), 'TEST', now(), 1, '{}' from generate_series(1, ${count});`;

  /** Removes the events after `sequence`, as a restore does, and runs `meanwhile` before anyone can read the feed. */
  const undoAfter = (sequence: bigint, meanwhile = '') =>
    t.owner.query(`begin; set local session_replication_role = replica;
      delete from event where platform_id = '${platformId}' and sequence > ${sequence};
      update feed_head f set sequence = ${sequence}, epoch = e.epoch from event e
        where f.platform_id = '${platformId}' and e.platform_id = f.platform_id and e.sequence = ${sequence};
      ${meanwhile} commit`);

  async function follow() {
    await sequenced(t);
    const before = sequenceIn(await platform.feedEnd());
    const messages = platform.watch(stream, { after: await platform.feedEnd() });
    const first = nextOf(messages);
    await t.owner.query(write(2));
    await first;
    const { cursor } = (await nextOf(messages)).data.events;
    expect(sequenceIn(cursor)).toBe(before + 2n);
    return { before, next: () => nextOf(messages).catch((errors: unknown) => errors) };
  }

  const ended = [{ message: undone.message, extensions: { code: 'CURSOR_EXPIRED' } }];

  test('are told why their streams end when the end of the feed moves back', async () => {
    const { before, next } = await follow();
    await undoAfter(before);
    expect(await next()).toMatchObject(ended);
  });

  test('are told why their streams end even if the feed has grown past its former end, and miss no event', async () => {
    const { before, next } = await follow();
    await undoAfter(before, `insert into feed_epoch (epoch) values (1234567); ${write(3)}`);
    expect(await next()).toMatchObject(ended);
    expect((await listed(backedUp)).length).toBe(Number(before + 3n - sequenceIn(backedUp)));
  });
});

describe('the operator after a restore', () => {
  const ops = (...args: readonly string[]): Promise<Data> => askOps(t.databaseUrl, args);
  const finding = async () =>
    JSON.parse((await runOps(t.databaseUrl, ['--json', 'doctor'])).out).find(({ check }: Data) => check === 'restore');

  /** Starts a sequencer and returns the warnings it logs. */
  async function warnings(): Promise<unknown[]> {
    const said: unknown[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
    const sequencer = new Sequencer(t.gateway.payments.database, log);
    await sequencer.step();
    await sequencer.close();
    return said;
  }

  test('is warned, until the restore is marked, that the database has changed', async () => {
    const unmarked = async () =>
      /^payments_database_restores_unmarked (\d+)$/m.exec(
        await (await fetch(`${t.gateway.metricsUrl}/metrics`)).text(),
      )?.[1];
    expect(Number(await unmarked())).toBeGreaterThan(0);
    const words = expect.stringContaining('npm run ops -- restored');
    expect(await warnings()).toEqual([words]);
    expect(await finding()).toEqual({ check: 'restore', result: 'warning', detail: words });
    const other = await openClient(t.databaseUrl, { application_name: 'payments-gateway work db-1:7' });
    const unasked = await runOps(t.databaseUrl, ['restored']);
    expect(unasked).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Nothing was done\..* these are connected: db-1:7\. Run it with --yes/),
    });
    await other.end();
    expect(await finding()).toMatchObject({ result: 'warning' });
    const { epoch } = await ops('restored', '--yes');
    expect(await warnings()).toEqual([]);
    expect((await finding()).result).toBe('ok');
    expect(await unmarked()).toBe('0');

    // Cursors from before the mark stay valid, and later ones belong to the new epoch.
    const before = await platform.feedEnd();
    await commitEvents({ ...t, platform });
    await vi.waitFor(async () => expect(await platform.feedEnd()).not.toBe(before), { timeout: 60_000 });
    expect(positionOf(cursors, platformId, await platform.feedEnd())?.epoch).toBe(epoch);
    expect(await listed(before)).toEqual([await platform.feedEnd()]);
  });

  test('finds a separate epoch in the feed for each restore, even if several were not marked', async () => {
    const epochs = async () => (await t.owner.query('select epoch, server from feed_epoch order by id')).rows;
    const before = await epochs();
    for (const timeline of ['1/00000002/3', '1/00000003/3']) {
      await t.owner.query('update feed_epoch set server = $1 where id = (select max(id) from feed_epoch)', [timeline]);
      expect(await warnings()).toHaveLength(1);
      // Another start on the same server does not begin a new epoch.
      expect(await warnings()).toHaveLength(1);
    }
    const after = await epochs();
    expect(after).toHaveLength(before.length + 2);
    expect(new Set(after.map(({ epoch }) => epoch)).size).toBe(after.length);
    await ops('restored', '--yes');
    expect(await warnings()).toEqual([]);
  });
});
