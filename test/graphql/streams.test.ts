import { once } from 'node:events';
import { createClient as createSseClient } from 'graphql-sse';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { nextOf, openRawSocket, subscribed } from '../setup/streams.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(100_000n);
/** Waits until no subscription is open. A disconnected reader must not leave any open. */
const released = () => subscribed(t, 0);
afterEach(released);

const updates =
  'subscription ($of: FollowedTransactionsInput) { transactionUpdates(of: $of) { status terminal transaction { id } } }';
const kind = '{ viewer { kind } }';

const paid = async (): Promise<string> => (await t.platform.pay(scene)).id;

const clients = {
  WebSocket: () => t.platform.socket(),
  SSE: () =>
    createSseClient({
      url: `${t.url}/graphql/stream`,
      headers: { authorization: t.platform.authorization },
      retryAttempts: 0,
    }),
};

/** Reads the results of an operation until it completes. */
const read = (client: Data, query: string, variables: object = {}): Promise<Data[]> =>
  Array.fromAsync(client.iterate({ query, variables }));

describe.each(Object.entries(clients))('over %s', (_name, connectClient) => {
  test("a stream of one payment starts with the payment's current state and completes after its final one", async () => {
    const client = connectClient();
    const id = await paid();
    const results = await read(client, updates, { of: { transactionId: id } });
    expect(['PENDING', 'COMPLETED']).toContain(results[0].data.transactionUpdates.status);
    const last = { data: { transactionUpdates: { status: 'COMPLETED', terminal: true, transaction: { id } } } };
    expect(results.at(-1)).toEqual(last);
    // Once a payment has ended, its current state is final.
    expect(await read(client, updates, { of: { transactionId: id } })).toEqual([last]);
    await client.dispose();
  });

  test('a stream of all payments starts with the next change, and is released when its reader leaves', async () => {
    const client = connectClient();
    const stream = client.iterate({ query: updates });
    const first = nextOf(stream);
    await subscribed(t, 1);
    const id = await paid();
    expect((await first).data).toEqual({
      transactionUpdates: { status: 'PENDING', terminal: false, transaction: { id } },
    });
    await stream.return?.();
    await released();
    await client.dispose();
  });

  test('a stream whose client leaves immediately is released', async () => {
    const client = connectClient();
    const open = () => client.subscribe({ query: updates }, { next() {}, error() {}, complete() {} });
    const [stop, stopLater] = [open(), open()];
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

describe('a socket', () => {
  test.each([
    ['no credentials', undefined],
    ['malformed credentials', 'nonsense'],
    ['unknown credentials', basicAuthorization({ clientId: 'a', secret: 'b' })],
    ['credentials that are not a string', 1],
  ])('with %s is closed with 4403', async (_what, authorization) => {
    const { closed } = await openRawSocket(t.url, '', { params: { authorization } });
    expect((await closed).code).toBe(4403);
  });

  test('is closed with 4408 if it sends no credentials', async () => {
    const silent = new WebSocket(`${t.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    expect((await once(silent, 'close'))[0]).toBe(4408);
  });

  test('accepts credentials under `authorization` in any capitalization, and is closed if it sends them twice', async () => {
    const params = { authorization: undefined, Authorization: t.platform.authorization };
    const { send, closed } = await openRawSocket(t.url, '', { params });
    send({ type: 'connection_init' });
    expect((await closed).code).toBe(4429);
  });

  test('carries 20 operations, even if all start together, and refused ones do not count', async () => {
    const client = t.platform.socket();
    // Refused, because they do not name the operation to run. They are sent one after another, because 21 at once
    // would be too many.
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
