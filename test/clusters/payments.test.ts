import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ClusterCalls, callHeader } from '../../src/clusters/cluster-calls.ts';
import { Directory } from '../../src/clusters/directory.ts';
import { keyId } from '../../src/core/key-id.ts';
import { compareWith } from '../../src/payments/clusters/compare.ts';
import { resendOrder } from '../../src/payments/clusters/resend-order.ts';
import {
  act,
  actOn,
  ended,
  execute,
  feedEnd,
  lookUp,
  seen,
  transactionOf,
  umaAddressOf,
  umaQuote,
} from '../setup/acts.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';
import { balanceOf, externalAccount, makeScene, type Scene } from '../setup/scene.ts';
import { clusterKey, startTwoClusters, type TwoClusters } from '../setup/two-clusters.ts';
import { type CallProxy, startCallProxy } from './call-proxy.ts';

/** Payments between platforms of two clusters: one order, paid once, whatever the network does. */

const fallback = 'the key of clusters that was in use before';

let t: TwoClusters;
let north: TestPlatform;
let south: TestPlatform;
let payer: Scene;
let payee: Scene;
let address: string;
/** Between north and south, on the way to south. */
let way: CallProxy;
beforeAll(async () => {
  const proxies: CallProxy[] = [];
  t = await startTwoClusters({ PAYMENT_APPROVAL_MS: 20_000, CLUSTER_KEY_FALLBACKS: [fallback] }, async (name, url) => {
    const proxy = await startCallProxy(url);
    proxies.push(proxy);
    if (name === 'south') way = proxy;
    return proxy.url;
  });
  [north, south] = [t.north.platform, t.south.platform];
  payer = await makeScene(north);
  payee = await makeScene(south, 0n);
  address = await umaAddressOf(south, payee.customerId);
  return async () => {
    await t.stop();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  };
}, 60_000);
afterEach(() => {
  way.fault = 'none';
});
afterAll(async () => {
  // What each side has settled with the other is the same in both books.
  for (const [one, other] of [
    [t.north, 'south'],
    [t.south, 'north'],
  ] as const) {
    const { debts, differences, underWay } = await compareWith(one.gateway.payments, other);
    expect({ differences, underWay }).toEqual({ differences: [], underWay: 0 });
    for (const { owedToThem, theyExpect, owedToUs, theyOwe } of debts) {
      expect([owedToThem, owedToUs]).toEqual([theyExpect, theyOwe]);
    }
  }
});

const incomingPending = ({ type, status }: Data) => type === 'INCOMING' && status === 'PENDING';

/** Executes a payment of 100 dollars from north to south, and answers its transaction. */
async function send(rest: object = {}, key?: string): Promise<Data> {
  const made = await umaQuote(north, payer.usd, address, rest);
  if (!made.transaction) throw new Error(JSON.stringify(made));
  const executed = await execute(north, made.id, key ? { idempotencyKey: key } : {});
  expect(executed.quote?.status).toBe('PROCESSING');
  return made.transaction;
}

describe('a payment to a customer of the other cluster', () => {
  test('is found there, waits for the approval there, and arrives once, with what each side may know', async () => {
    const lookup = await lookUp(north, address);
    expect(lookup).toMatchObject({ vaspName: 'south.south.uma.money' });
    expect(lookup.requiredPayerFields).toContainEqual({ name: 'FULL_NAME', mandatory: true });
    const [from, before, cursor] = [
      await balanceOf(north, payer.usd),
      await balanceOf(south, payee.usd),
      await feedEnd(south),
    ];
    const { id } = await send();
    const waiting = await seen(south, cursor, incomingPending);
    expect(waiting).toMatchObject({
      receivedAmount: { amount: expect.any(String), currency: { code: 'USD' } },
      source: { umaAddress: await umaAddressOf(north, payer.customerId) },
      counterpartyInformation: expect.arrayContaining([{ name: 'FULL_NAME', value: 'Grace Hopper' }]),
    });
    expect((await transactionOf(north, id)).status).toBe('PROCESSING');
    await actOn(south, 'approveTransaction', { transactionId: waiting.id });
    const [sent, received] = [await ended(north, id), await ended(south, waiting.id)];
    expect([sent.status, received.status]).toEqual(['COMPLETED', 'COMPLETED']);
    expect(sent.counterpartyInformation).toContainEqual({ name: 'FULL_NAME', value: 'Grace Hopper' });
    const amount = BigInt(received.receivedAmount.amount);
    expect(await balanceOf(south, payee.usd)).toBe(before + amount);
    expect(await balanceOf(north, payer.usd)).toBe(from - BigInt(sent.sentAmount.amount));
  });

  test('is rejected there: the money is back', async () => {
    const [from, cursor] = [await balanceOf(north, payer.usd), await feedEnd(south)];
    const { id } = await send();
    const { id: transactionId } = await seen(south, cursor, incomingPending);
    await actOn(south, 'rejectTransaction', { transactionId });
    expect(await ended(north, id)).toMatchObject({ status: 'REJECTED', refund: { amount: { amount: '10000' } } });
    expect(await balanceOf(north, payer.usd)).toBe(from);
  });

  test('cannot be taken any more: it is refused for good, and the money is back', async () => {
    const gone = await makeScene(south, 0n);
    const goneAddress = await umaAddressOf(south, gone.customerId);
    const made = await umaQuote(north, payer.usd, goneAddress);
    const from = await balanceOf(north, payer.usd);
    await act(south, 'deleteCustomer', { customerId: gone.customerId });
    await execute(north, made.id);
    expect(await ended(north, made.transaction.id)).toMatchObject({ status: 'REJECTED' });
    expect(await balanceOf(north, payer.usd)).toBe(from);
    expect(await lookUp(north, goneAddress)).toMatchObject({ code: 'UMA_NOT_FOUND' });
  });

  test('goes on to the external account of its receiver', async () => {
    const one = await makeScene(south, 0n);
    const usAccount = { accountNumber: '4000000000', routingNumber: '021000021', accountCategory: 'CHECKING' };
    const outside = await externalAccount(south, one.customerId, 'USD', { usAccount });
    await act(south, 'updateExternalAccount', { accountId: outside, defaultUmaDepositAccount: true });
    const cursor = await feedEnd(south);
    const made = await umaQuote(north, payer.usd, await umaAddressOf(south, one.customerId));
    await execute(north, made.id);
    const { id: transactionId } = await seen(south, cursor, incomingPending);
    await actOn(south, 'approveTransaction', { transactionId });
    const [sent, received] = [await ended(north, made.transaction.id), await ended(south, transactionId)];
    expect([sent.status, received.status]).toEqual(['COMPLETED', 'COMPLETED']);
    expect([received.destination.accountId, await balanceOf(south, one.usd)]).toEqual([outside, 0n]);
  });
});

describe('whatever the network does, it is paid once', () => {
  test.each(['loses-answers', 'doubles', 'is-down'] as const)('on a way that %s', async (fault) => {
    const [before, cursor] = [await balanceOf(south, payee.usd), await feedEnd(south)];
    const made = await umaQuote(north, payer.usd, address);
    way.fault = fault;
    const lost = way.lost();
    await execute(north, made.id);
    if (fault !== 'doubles') await lost;
    if (fault === 'is-down') {
      expect(await lookUp(north, address)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      way.fault = 'none';
    }
    const waiting = await seen(south, cursor, incomingPending);
    if (fault === 'loses-answers') way.fault = 'none';
    await actOn(south, 'approveTransaction', { transactionId: waiting.id });
    const sent = await ended(north, made.transaction.id);
    expect(sent.status).toBe('COMPLETED');
    expect(await balanceOf(south, payee.usd)).toBe(before + BigInt(waiting.receivedAmount.amount));
    const { rows } = await t.south.owner.query(
      "select count(*)::int as count from transaction where type = 'INCOMING' and created_at >= $1",
      [new Date(Number.parseInt(waiting.id.slice('Transaction:'.length).replaceAll('-', '').slice(0, 12), 16))],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });
});

describe('a comparison names', () => {
  test('an order that only one side has', async () => {
    const cursor = await feedEnd(south);
    const { id } = await send();
    const { id: transactionId } = await seen(south, cursor, incomingPending);
    await actOn(south, 'approveTransaction', { transactionId });
    await ended(north, id);
    // As after a restore of one side to a moment before.
    const uuid = id.slice('Transaction:'.length);
    const forgotten = await t.north.owner.query('delete from cluster_order where transaction_id = $1 returning *', [
      uuid,
    ]);
    const { differences, debts } = await compareWith(t.north.gateway.payments, 'south');
    expect(differences).toMatchObject([
      { direction: 'SENT', here: 'UNKNOWN', there: 'SETTLED', amount: expect.any(String) },
    ]);
    const [{ owedToThem, theyExpect } = { owedToThem: 0n, theyExpect: 0n }] = debts;
    expect(theyExpect - owedToThem).toBe(BigInt(differences[0]?.amount ?? 0));
    const [row] = forgotten.rows;
    await t.north.owner.query(
      `insert into cluster_order (platform_id, order_id, direction, cluster, transaction_id, currency, amount, ordered_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        row.platform_id,
        row.order_id,
        row.direction,
        row.cluster,
        row.transaction_id,
        row.currency,
        row.amount,
        row.ordered_at,
      ],
    );
  });

  test('an order that the other side has lost, which is credited there again when it is sent again', async () => {
    const cursor = await feedEnd(south);
    const { id } = await send();
    const first = await seen(south, cursor, incomingPending);
    await actOn(south, 'approveTransaction', { transactionId: first.id });
    await ended(north, id);
    await t.south.owner.query('delete from cluster_order where transaction_id = $1', [
      first.id.slice('Transaction:'.length),
    ]);
    const { payments } = t.north.gateway;
    expect((await compareWith(payments, 'south')).differences).toMatchObject([{ here: 'SETTLED', there: 'UNKNOWN' }]);
    const after = await feedEnd(south);
    const operator = { act: 'clusters resend', by: 'a test' };
    expect(await resendOrder(payments.database, id, operator)).toBe(true);
    const again = await seen(south, after, incomingPending);
    await actOn(south, 'approveTransaction', { transactionId: again.id });
    await ended(south, again.id);
    expect(again.receivedAmount).toEqual(first.receivedAmount);
    expect((await compareWith(payments, 'south')).differences).toEqual([]);
    expect((await transactionOf(north, id)).status).toBe('COMPLETED');
    await settledThere(id);
  });
});

/** Waits until the order of a payment of north waits for nothing. */
async function settledThere(id: string): Promise<void> {
  for (;;) {
    const { rows } = await t.north.owner.query(
      'select from rail_order where transaction_id = $1 and due_at is not null',
      [id.slice('Transaction:'.length)],
    );
    if (rows.length === 0) return;
    await turn();
  }
}

describe('a call of another cluster', () => {
  const path = '/clusters/totals';

  /** What a cluster of this name and key sends to `cluster`. */
  async function signed(name: string, key: string, cluster = 'south'): Promise<string> {
    const sent = Promise.withResolvers<string>();
    const listener = createServer((request, response) => {
      sent.resolve(String(request.headers[callHeader]));
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const instances = [`http://127.0.0.1:${(listener.address() as AddressInfo).port}`];
    const current = new Directory(JSON.stringify({ clusters: { [cluster]: { instances } }, default: cluster }));
    const calls = new ClusterCalls(name, { current }, new Map([[keyId('CLUSTER_KEY', key), Buffer.from(key)]]));
    await calls.call(cluster, path, {});
    await calls.close();
    listener.close();
    return sent.promise;
  }

  const post = async (token: string | undefined, to = path, body = '{}') => {
    const headers = { 'content-type': 'application/json', ...(token && { [callHeader]: token }) };
    return (await fetch(`${t.south.url}${to}`, { method: 'POST', headers, body })).status;
  };

  test('is answered when it is signed, with the key or with one that it is rotated from', async () => {
    expect(await post(await signed('north', clusterKey))).toBe(200);
    expect(await post(await signed('north', fallback))).toBe(200);
  });

  test('is refused without a signature, with one of another key, for another cluster, and with another body or path', async () => {
    expect(await post(undefined)).toBe(401);
    expect(await post('a.b.c')).toBe(401);
    expect(await post(await signed('north', 'another key of clusters, of nobody at all'))).toBe(401);
    expect(await post(await signed('north', clusterKey, 'west'))).toBe(401);
    // South's directory has no west.
    expect(await post(await signed('west', clusterKey))).toBe(401);
    const good = await signed('north', clusterKey);
    expect(await post(good, path, '{"more":1}')).toBe(401);
    expect(await post(good, '/clusters/orders')).toBe(401);
    expect((await fetch(`${t.south.url}${path}`)).status).toBe(401);
  });
});

test('a platform takes only domains that the directory gives to its cluster', async () => {
  const take = (umaDomain: string) => act(south, 'updatePlatform', { umaDomain }, 'platform { umaDomain }');
  expect(await take('pay.north.test')).toMatchObject({ code: 'CONFLICT', path: ['input', 'umaDomain'] });
  expect(await take('pay.example.com')).toMatchObject({ code: 'CONFLICT' });
  expect(await take('pay.south.test')).toMatchObject({ platform: { umaDomain: 'pay.south.test' } });
});
