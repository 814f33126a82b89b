import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseRange } from '../../src/http/client-address.ts';
import { deleteExpired } from '../../src/work/housekeeping.ts';
import { actOn, ended, transactionOf } from '../setup/acts.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { type Received, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { returnedAmount, slowAmount } from './returning-rail.ts';
import { type Connected, startTwoGateways, type TwoGateways } from './two-gateways.ts';

/** Webhooks of an upstream service. Orders are asked about by themselves only after an hour here: a test would not see it. */

let two: TwoGateways;
let shop: Connected;
let scene: Scene;
let secret: string;
/** What stands between upstream and the gateway: it passes webhooks on, or holds them back. */
let relay: Receiver;

beforeAll(async () => {
  two = await startTwoGateways(
    { pollMs: 3_600_000 },
    { WRONG_CREDENTIALS_PER_MINUTE: 6, TRUSTED_PROXIES: [parseRange('127.0.0.1')] },
  );
  shop = await two.connected('shop');
  relay = await startReceiver(passOn);
  ({ secret } = await createEndpoint(shop.account, { url: relay.url }));
  await shop.connect({ webhookSecret: secret });
  scene = await makeScene(shop.platform, 0n);
  await receive(100_000n);
});
afterAll(async () => {
  await two.stop();
  await relay.stop();
});

/** Gives a webhook to the gateway, as it arrived. */
const give = ({ raw, headers }: Pick<Received, 'raw' | 'headers'>, url = shop.webhookUrl) =>
  fetch(url, {
    method: 'POST',
    body: raw,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => /^(webhook-|x-forwarded)/.test(name))),
  });

const passOn: Receiver['answer'] = (response, received) => {
  give(received).then(
    ({ status }) => response.writeHead(status).end(),
    () => response.destroy(),
  );
};

const holdBack: Receiver['answer'] = (response) => response.writeHead(200).end();

async function receive(amount: bigint): Promise<void> {
  const input = { sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd, amount };
  const { transaction } = await actOn(shop.platform, 'transferIn', input);
  expect(await ended(shop.platform, transaction.id)).toMatchObject({ status: 'COMPLETED' });
}

async function pay(amount: bigint): Promise<string> {
  const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount };
  return (await actOn(shop.platform, 'transferOut', input)).transaction.id;
}

/** The order of a payment: how often its rail was asked, and whether it waits for a question that is a day away. */
async function orderOf(transactionId: string) {
  const { rows } = await two.gateway.owner.query(
    `select id, attempts, coalesce(due_at > clock_timestamp() + interval '1 hour', false) as watched
     from rail_order where transaction_id = $1`,
    [transactionId.replace('Transaction:', '')],
  );
  return rows[0] as { id: string; attempts: number; watched: boolean };
}

/** The webhooks that the gateway has stored, of the platform: how many, and how many it has not worked on. */
async function stored(): Promise<{ all: number; waiting: number }> {
  const { rows } = await two.gateway.owner.query(
    'select count(*)::int as all, count(due_at)::int as waiting from rail_webhook where platform_id = $1',
    [shop.platform.platformId],
  );
  return rows[0];
}

const untilWorkedOn = () => vi.waitFor(async () => expect((await stored()).waiting).toBe(0), 20_000);

/** The webhooks of a payment upstream, by the id of our order. */
const ofOrder = (id: string) => relay.received.filter(({ body }) => body.transaction?.description === `order ${id}`);

const untilReported = async (id: string, status: string) =>
  relay.until(() => ofOrder(id).some(({ body }) => body.transaction.status === status));

test('a payment ends when its provider says so, long before its order would be asked about again', async () => {
  const id = await pay(slowAmount);
  expect(await ended(shop.platform, id)).toMatchObject({ status: 'COMPLETED' });
});

test('webhooks that come late, twice and in another order end a payment once, and do not end the watch for its return', async () => {
  relay.answer = holdBack;
  const before = await balanceOf(shop.platform, scene.usd);
  const id = await pay(1_000n);
  const order = await orderOf(id);
  await untilReported(order.id, 'COMPLETED');
  relay.answer = passOn;
  const { all } = await stored();
  const held = ofOrder(order.id);
  for (const webhook of [...held.toReversed(), ...held]) expect((await give(webhook)).status).toBe(200);
  expect(await ended(shop.platform, id)).toMatchObject({ status: 'COMPLETED' });
  await untilWorkedOn();
  expect((await stored()).all).toBe(all + held.length);
  expect(await balanceOf(shop.platform, scene.usd)).toBe(before - 1_000n);
  // Late news of the delivery: the order waits for its one question about a return.
  const [last] = held.slice(-1);
  const again = `Webhook:${randomUUID()}`;
  if (last) await give({ raw: last.raw, headers: signed(last.raw, again) });
  await untilWorkedOn();
  expect(await orderOf(id)).toMatchObject({ watched: true });
});

/** The headers of a webhook that is signed as upstream signs. */
function signed(raw: string, id = `Webhook:${randomUUID()}`, { at = new Date(), by = secret } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign(id, at, raw),
  };
}

test('a payment that its bank returns upstream is refunded here at once', async () => {
  const before = await balanceOf(shop.platform, scene.usd);
  const id = await pay(returnedAmount);
  expect(await ended(shop.platform, id)).toMatchObject({ status: 'COMPLETED' });
  // The bank returns it after an hour: that hour is over now.
  await two.upstream.owner.query('update rail_order set due_at = clock_ms() where due_at is not null');
  await vi.waitFor(async () => expect((await transactionOf(shop.platform, id)).status).toBe('REFUNDED'), 20_000);
  expect(await balanceOf(shop.platform, scene.usd)).toBe(before);
});

test('a webhook whose process died after it was stored is worked on by another', async () => {
  relay.answer = holdBack;
  const id = await pay(2_000n);
  const order = await orderOf(id);
  await untilReported(order.id, 'COMPLETED');
  relay.answer = passOn;
  const [webhook] = ofOrder(order.id).slice(-1);
  // As the process left it that had leased it, and after the end of the lease.
  await two.gateway.owner.query(
    `insert into rail_webhook (platform_id, webhook_id, body, attempts, due_at) values ($1, $2, $3, 1, clock_ms())`,
    [shop.platform.platformId, webhook?.id, Buffer.from(webhook?.raw ?? '')],
  );
  expect(await ended(shop.platform, id)).toMatchObject({ status: 'COMPLETED' });
  await untilWorkedOn();
});

test('what nobody has signed for this platform is refused, and nothing of it is stored', async () => {
  const other = await two.connected('without a secret');
  const before = await stored();
  const raw = JSON.stringify({ type: 'TEST', test: true });
  const from = (client: string, headers: Record<string, string>) => ({
    raw,
    headers: { ...headers, 'x-forwarded-for': client },
  });
  const foreign = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const old = new Date(Date.now() - 3_600_000);
  const unknown = shop.webhookUrl.replace(shop.platform.platformId, randomUUID());
  const refused = [
    await give(from('198.51.100.1', {})),
    await give(from('198.51.100.1', signed(raw, undefined, { by: foreign }))),
    await give(from('198.51.100.1', signed(raw, undefined, { at: old }))),
    await give(from('198.51.100.1', signed(`${raw} `))),
    await give(from('198.51.100.1', signed(raw)), unknown),
    await give(from('198.51.100.1', signed(raw)), other.webhookUrl),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await refused[0]?.json()).toEqual({
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'no webhook of a provider of this platform: its signature is missing or wrong',
  });
  // Six wrong ones a minute: the next is not even looked at, and that of another address is.
  expect((await give(from('198.51.100.1', signed(raw)))).status).toBe(429);
  const long = 'x'.repeat(100 * 1024 + 1);
  expect((await give({ raw: long, headers: signed(long) })).status).toBe(413);
  expect((await fetch(shop.webhookUrl)).status).toBe(405);
  expect(await stored()).toEqual(before);
  expect((await give(from('198.51.100.2', signed(raw)))).status).toBe(200);
  expect((await stored()).all).toBe(before.all + 1);
  await untilWorkedOn();
});

test('a webhook that was worked on is deleted after 30 days; one that waits stays', async () => {
  await two.gateway.owner.query(
    `insert into rail_webhook (platform_id, webhook_id, body, received_at, due_at)
     select $1, v.id, '', clock_ms() - v.age::interval, case when v.waits then 'infinity'::timestamptz end
     from (values ('old', '31 days', false), ('young', '29 days', false), ('waits', '31 days', true)) as v (id, age, waits)`,
    [shop.platform.platformId],
  );
  await deleteExpired(two.gateway.gateway.payments.database);
  const { rows } = await two.gateway.owner.query(
    "delete from rail_webhook where webhook_id in ('old', 'young', 'waits') returning webhook_id",
  );
  expect(rows.map(({ webhook_id: id }) => id).sort()).toEqual(['waits', 'young']);
});
