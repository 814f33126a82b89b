import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { ownClient, ownGateway, testGateway, uuidIn } from '../setup/gateway.ts';
import { lockedCustomers, patient, waitForLocks } from '../setup/locks.ts';
import { Statements } from '../setup/statements.ts';
import { openRawSocket, subscribed } from '../setup/streams.ts';

// Once a client has disconnected, the gateway starts no further mutations from its document and no further reads.

const t = await testGateway({ MAX_IN_FLIGHT: 1 }, undefined, { pace: patient });
const hasty = await testGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: { ...patient, operationMs: 1_500 } });
const statements = new Statements(t.gateway.serving.pool);
const scene = await t.platform.makeScene(10_000n);

const twoTransfers = `mutation ($one: TransferOutInput!, $two: TransferOutInput!) {
  one: transferOut(input: $one) { ... on TransferOutSuccess { transaction { id customer { umaAddress } } } }
  two: transferOut(input: $two) { ... on TransferOutSuccess { transaction { id customer { umaAddress } } } }
}`;

const variables = () => {
  const transfer = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd };
  return {
    one: { ...transfer, amount: { units: 11 }, idempotencyKey: randomUUID() },
    two: { ...transfer, amount: { units: 12 }, idempotencyKey: randomUUID() },
  };
};

/** Runs two transfers whose client disconnects during the first. Returns the amounts that were paid. */
async function amountsPaid(runAndLeave: (firstIsUnderWay: () => Promise<void>) => Promise<void>): Promise<unknown[]> {
  const before = await amounts();
  const holder = await ownClient(t.databaseUrl);
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [uuidIn(scene.usd)]);
  await runAndLeave(() => waitForLocks(holder, 1));
  const { statements: sent } = await statements.during(async () => {
    await holder.query('commit');
    await vi.waitFor(async () => expect(await amounts()).toHaveLength(before.length + 1), { timeout: 30_000 });
    // If a second transfer from the same account is running, this payment waits for it.
    await t.platform.pay(scene, 13);
  });
  // Considers only this test's statements.
  expect(sent.filter((text) => text.includes('uma_address'))).toEqual([]);
  return (await amounts()).slice(0, -before.length || undefined).reverse();
}

async function amounts(): Promise<unknown[]> {
  const payments = await t.platform.listed('transactions', {}, 'sentAmount { amount }');
  return payments.map(({ sentAmount }) => Number(sentAmount.amount));
}

const openSocket = () => openRawSocket(t.url, t.platform.authorization);

/** Sends two transfers over a socket. Returns the socket while the first of them is in progress. */
async function transferOnSocket(firstIsUnderWay: () => Promise<void>) {
  const raw = await openSocket();
  raw.send({ id: '1', type: 'subscribe', payload: { query: twoTransfers, variables: variables() } });
  await firstIsUnderWay();
  return raw;
}

test.each<readonly [what: string, runAndLeave: Parameters<typeof amountsPaid>[0]]>([
  [
    'a request that its client aborts',
    async (firstIsUnderWay) => {
      const leaving = new AbortController();
      const request = fetch(`${t.url}/graphql`, {
        method: 'POST',
        signal: leaving.signal,
        headers: { authorization: t.platform.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query: twoTransfers, variables: variables() }),
      });
      await firstIsUnderWay();
      leaving.abort();
      await expect(request).rejects.toThrow();
      // This gateway serves one request at a time, so once it accepts another, the aborted one has ended.
      await vi.waitFor(async () => expect((await t.platform.send('{ __typename }')).status).toBe(200), {
        timeout: 30_000,
      });
    },
  ],
  [
    'a socket that its client closes',
    async (firstIsUnderWay) => {
      const { socket, closed } = await transferOnSocket(firstIsUnderWay);
      socket.close();
      await closed;
    },
  ],
  [
    'an operation that its client completes on a socket',
    async (firstIsUnderWay) => {
      const { socket, send, receive } = await transferOnSocket(firstIsUnderWay);
      send({ id: '1', type: 'complete' });
      send({ type: 'ping' });
      await receive('pong');
      socket.close();
    },
  ],
  [
    'an operation that times out',
    async (firstIsUnderWay) => {
      const request = t.platform.at(hasty.url).send(twoTransfers, variables());
      await firstIsUnderWay();
      expect((await request).errors?.[0]?.extensions.code).toBe('TIMEOUT');
    },
  ],
])('%s executes no further mutation', async (_what, runAndLeave) => {
  expect(await amountsPaid(runAndLeave)).toEqual([11, 13]);
});

test('a subscription is released if the client completes it while it is being opened', async () => {
  const { socket, send, receive } = await openSocket();
  const { id } = await t.platform.pay(scene, 14);
  const lock = await lockedCustomers(t.databaseUrl);
  const query = `subscription { transactionUpdates(of: { transactionId: "${id}" }) { transaction { customer { id } } } }`;
  send({ id: 'one', type: 'subscribe', payload: { query } });
  await lock.waitedFor();
  send({ id: 'one', type: 'complete' });
  send({ type: 'ping' });
  await receive('pong');
  await lock.release();
  send({ id: 'two', type: 'subscribe', payload: { query: '{ viewer { kind } }' } });
  expect(await receive('next')).toMatchObject({ id: 'two' });
  await subscribed(t, 0);
  socket.close();
});

test('a response over the size limit is refused, and the error names the limit', async () => {
  const narrow = await ownGateway({ ROLE: 'serve', MAX_ANSWER_BYTES: 1_024 }, t.databaseUrl);
  const platform = t.platform.at(narrow.url);
  for (const amount of [1, 2, 3]) await t.platform.pay(scene, amount);
  const list =
    'transactions(first: 3) { edges { node { id type sentAmount { amount formatted currency { code name } } } } }';
  expect((await platform.ask(`{ ${list} }`)).transactions.edges).toHaveLength(3);
  const doubled = `{ ${[1, 2, 3].map((n) => `a${n}: ${list}`).join(' ')} }`;
  const { status, data, errors } = await platform.send(doubled);
  expect(status).toBe(294);
  expect(data).toEqual({ a1: null, a2: null, a3: null });
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', budget: 'answerBytes', limit: 1_024 });
  expect(errors?.[0]?.message).toContain('1024 bytes');
});
