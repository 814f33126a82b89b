import { expect, test, vi } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { nextOf, openEventStream, openRawSocket, subscribed } from '../setup/streams.ts';

/** Tests how many sockets and subscriptions a token may have open at a time. */

const t = await testGateway({ SOCKETS_PER_CLIENT_TOKEN: 2, STREAMS_PER_CLIENT_TOKEN: 3 });
const customerId = await t.platform.newCustomer();
const { authorization } = await t.platform.appOf({ customerId });

const subscription = { query: 'subscription { transactionUpdates { status } }' };

test('a client token may have two sockets, and a third is refused until one of them has closed', async () => {
  const first = await openRawSocket(t.url, authorization);
  const second = await openRawSocket(t.url, authorization);
  const third = await openRawSocket(t.url, authorization);
  expect(await third.closed).toEqual({ code: 1013, reason: 'a client token can have at most 2 sockets at a time' });
  // Another token is not affected.
  const other = await openRawSocket(t.url, t.platform.authorization);
  expect(other.socket.readyState).toBe(other.socket.OPEN);
  first.socket.close();
  await vi.waitFor(async () => {
    const again = await openRawSocket(t.url, authorization);
    expect(again.socket.readyState).toBe(again.socket.OPEN);
    again.socket.close();
  }, 60_000);
  for (const { socket } of [second, other]) socket.close();
});

test('a client token may have three subscriptions across all transports, and a fourth is refused until one ends', async () => {
  const message = 'a client token can have at most 3 subscriptions at a time';
  const refused = [{ message, extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }];
  const raw = await openRawSocket(t.url, authorization);
  const subscribe = (id: string) => raw.send({ id, type: 'subscribe', payload: subscription });
  subscribe('1');
  subscribe('2');
  await subscribed(t, 2);
  const stream = await openEventStream(`${t.url}/graphql`, authorization, subscription);
  await subscribed(t, 3);

  subscribe('3');
  expect(await raw.receive('next')).toMatchObject({ id: '3', payload: { errors: refused } });
  const fourth = await openEventStream(`${t.url}/graphql`, authorization, subscription);
  expect((await nextOf(fourth.events)).data.errors).toEqual(refused);
  // A query is not a subscription.
  raw.send({ id: '4', type: 'subscribe', payload: { query: '{ viewer { kind } }' } });
  expect(await raw.receive('next')).toMatchObject({ id: '4', payload: { data: {} } });

  stream.cut();
  await subscribed(t, 2);
  subscribe('5');
  await subscribed(t, 3);
  raw.send({ id: '5', type: 'complete' });
  await subscribed(t, 2);
  // A refused subscription does not count.
  const invalid = { query: 'subscription { transactionUpdates(after: "x") { status } }' };
  const errors = [{ extensions: { code: 'INVALID_INPUT' } }];
  for (const id of ['6', '7', '8', '9']) {
    raw.send({ id, type: 'subscribe', payload: invalid });
    expect(await raw.receive('next')).toMatchObject({ id, payload: { errors } });
  }
  subscribe('10');
  await subscribed(t, 3);
  raw.socket.close();
  await subscribed(t, 0);
  const after = await openEventStream(`${t.url}/graphql`, authorization, subscription);
  await subscribed(t, 1);
  after.cut();
});
