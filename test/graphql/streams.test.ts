import { createClient as createSseClient } from 'graphql-sse';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Data, testGateway } from '../setup/gateway.ts';
import { subscribed } from '../setup/streams.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(100_000n);
/** Waits until no subscription is open. A disconnected reader must not leave one behind. */
const released = () => subscribed(t, 0);
afterEach(released);

const updates =
  'subscription ($of: FollowedTransactionsInput) { transactionUpdates(of: $of) { status terminal transaction { id } } }';
const kind = '{ viewer { kind } }';

const paid = async (amount?: number): Promise<string> => (await t.platform.pay(scene, amount)).id;

const clients = {
  WebSocket: () => t.platform.socket(),
  SSE: () =>
    createSseClient({
      url: `${t.url}/graphql/stream`,
      headers: { authorization: t.platform.authorization },
      retryAttempts: 0,
    }),
};

/** Reads results until the stream completes, or until `enough` returns true. */
async function read(
  client: ReturnType<(typeof clients)[keyof typeof clients]>,
  query: string,
  variables: Record<string, unknown> = {},
  enough: (result: Data) => boolean = () => false,
): Promise<Data[]> {
  const results: Data[] = [];
  for await (const result of client.iterate({ query, variables })) {
    results.push(result);
    if (enough(result)) break;
  }
  return results;
}

describe.each(Object.entries(clients))('over %s', (_name, connectClient) => {
  test("a stream of one payment starts with the payment's current state and completes after its final one", async () => {
    const client = connectClient();
    const id = await paid();
    const statuses = (await read(client, updates, { of: { transactionId: id } })).map(
      ({ data }) => data.transactionUpdates.status,
    );
    expect(['PENDING', 'COMPLETED']).toContain(statuses[0]);
    expect(statuses.at(-1)).toBe('COMPLETED');
    // Once a payment has ended, its current state is final.
    expect(await read(client, updates, { of: { transactionId: id } })).toEqual([
      { data: { transactionUpdates: { status: 'COMPLETED', terminal: true, transaction: { id } } } },
    ]);
    await client.dispose();
  });

  test('a stream of all payments starts with the next change, and is released when its reader leaves', async () => {
    const client = connectClient();
    const reading = read(client, updates, {}, () => true);
    await subscribed(t, 1);
    const id = await paid();
    const [first] = await reading;
    expect(first.data.transactionUpdates).toEqual({ status: 'PENDING', terminal: false, transaction: { id } });
    await released();
    await client.dispose();
  });

  test('a stream whose client leaves immediately is released', async () => {
    const client = connectClient();
    const stop = client.subscribe({ query: updates }, { next() {}, error() {}, complete() {} });
    const stopLater = client.subscribe({ query: updates }, { next() {}, error() {}, complete() {} });
    stop();
    await subscribed(t, 1);
    stopLater();
    await released();
    await client.dispose();
  });

  test('queries work too, and a refused operation reports its errors without closing the connection', async () => {
    const client = connectClient();
    expect(await read(client, kind)).toEqual([{ data: { viewer: { kind: 'PLATFORM' } } }]);
    for (const [query, code] of [
      ['{ viewer {', 'GRAPHQL_PARSE_FAILED'],
      [`{ ${'viewer { kind } '.repeat(300)} }`, 'COST_LIMIT_EXCEEDED'],
      [`{ ${Array.from({ length: 21 }, (_, i) => `a${i}: viewer { kind }`).join(' ')} }`, 'COST_LIMIT_EXCEEDED'],
      ['subscription { transactionUpdates(of: { transactionId: "Transaction:1" }) { status } }', 'NOT_FOUND'],
      ['subscription { transactionUpdates(after: "nonsense") { status } }', 'INVALID_INPUT'],
    ] as const) {
      expect([query, codesIn(await read(client, query).catch((error: unknown) => error))]).toEqual([query, [code]]);
    }
    expect(codesIn(await read(client, '{ nonsense }').catch((error: unknown) => error))).toHaveLength(1);
    await client.dispose();
  });
});

/** Returns the codes of refused operations, which a socket sends in an error message and SSE in a result. */
function codesIn(outcome: Data): string[] {
  const errors = Array.isArray(outcome) ? (outcome[0]?.errors ?? outcome) : outcome.errors;
  return [...new Set<string>(errors.map((error: Data) => error.extensions?.code))];
}

/** Opens a bare socket, sends these messages, and returns the code with which the socket is closed. */
function closeCode(...messages: object[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${t.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => {
      for (const message of messages) socket.send(JSON.stringify(message));
    });
    socket.on('close', resolve);
    socket.on('error', reject);
  });
}

describe('a socket', () => {
  const init = (payload: object) => ({ type: 'connection_init', payload });
  const good = () => ({ authorization: t.platform.authorization });
  const subscribe = (id: string, payload: object) => ({ id, type: 'subscribe', payload });

  test.each([
    ['no credentials', {}],
    ['malformed credentials', { authorization: 'nonsense' }],
    ['unknown credentials', { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` }],
    ['credentials that are not a string', { authorization: 1 }],
  ])('with %s is closed with 4403', async (_what, payload) => {
    expect(await closeCode(init(payload))).toBe(4403);
  });

  test('is closed with 4408 if it sends no credentials, and with 4401 for an operation before the credentials', async () => {
    const silent = closeCode();
    expect(await closeCode(subscribe('1', { query: kind }))).toBe(4401);
    expect(await silent).toBe(4408);
  });

  test('accepts credentials under `authorization`, whatever the case, and is closed for sending them twice', async () => {
    expect(await closeCode(init({ Authorization: t.platform.authorization }), init(good()))).toBe(4429);
  });

  test('carries 20 operations, even if all start together; a refused one makes room for another', async () => {
    const client = t.platform.socket();
    // These requests do not name the operation to run. They are sent one after another, because 21 at once are too
    // many.
    for (let index = 0; index < 30; index++) {
      expect(await read(client, `query A ${kind} query B ${kind}`).catch(codesIn)).toEqual([
        'OPERATION_RESOLUTION_FAILURE',
      ]);
    }

    const codes: string[] = [];
    const stops: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      for (let index = 0; index < 30; index++) {
        const error = (problem: Data) => {
          codes.push(...codesIn(problem));
          if (codes.length === 10) resolve();
        };
        stops.push(client.subscribe({ query: updates }, { next() {}, complete() {}, error }));
      }
    });
    expect(codes).toEqual(Array(10).fill('RATE_LIMITED'));
    await subscribed(t, 20);
    for (const stop of stops) stop();
    await released();
    expect(await read(client, kind)).toEqual([{ data: { viewer: { kind: 'PLATFORM' } } }]);
    await client.dispose();
  });
});
