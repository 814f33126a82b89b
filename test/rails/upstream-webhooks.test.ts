import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { signedHeaders } from '../../src/api/webhooks/delivery/sender.ts';
import { parseRange } from '../../src/core/address-ranges.ts';
import { deleteExpired } from '../../src/server/workers/housekeeping.ts';
import { type Data, untilRows, uuidIn, whileLocked } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';
import { sequenced } from '../setup/streams.ts';
import { passWebhookTo, type Received } from '../webhooks/receiver.ts';
import { returnedAmount, slowAmount } from './returning-rail.ts';
import { testRelay, testTwoGateways } from './two-gateways.ts';

/** Webhooks from the upstream service. Polling is hourly, so that it cannot hide a missing webhook. */

/** Forwards a webhook to the gateway exactly as it arrived. */
const give = (received: Pick<Received, 'raw' | 'headers'>, url = shop.webhookUrl) => passWebhookTo(url, received);

const two = await testTwoGateways(
  { pollMs: 3_600_000, identityMs: 3_600_000 },
  { WRONG_CREDENTIALS_PER_MINUTE: 6, TRUSTED_PROXIES: [parseRange('127.0.0.1')] },
);
const { shop, secret, relay, passOn, holdBack } = await testRelay(two);
const scene = await shop.platform.makeScene(0n);
await shop.platform.bringIn(scene, 100_000n);

const pay = async (amount: bigint): Promise<string> => (await shop.platform.transfer('transferOut', scene, amount)).id;

/** Returns a payment's order, with the number of its attempts and whether the next one is more than an hour away. */
async function orderOf(transactionId: string) {
  const { rows } = await two.gateway.owner.query(
    `select id, attempts, coalesce(due_at > clock_timestamp() + interval '1 hour', false) as watched
     from rail_order where transaction_id = $1`,
    [uuidIn(transactionId)],
  );
  return rows[0] as { id: string; attempts: number; watched: boolean };
}

/** Returns how many of the given webhooks are stored. Others, about earlier payments, can arrive at any time. */
async function stored(ids: unknown[]): Promise<number> {
  const text = 'select from rail_webhook where webhook_id = any($1)';
  return (await two.gateway.owner.query(text, [ids])).rowCount ?? 0;
}

const waiting = 'select webhook_id from rail_webhook where platform_id = $1 and due_at is not null';
const untilWorkedOn = () => untilRows(two.gateway, [], waiting, shop.platform.platformId);

/** Returns the webhooks about an upstream payment, given the id of our order. */
const ofOrder = (id: string) => relay.received.filter(({ body }) => body.transaction?.description === `order ${id}`);

const untilReported = async (id: string, status: string) =>
  relay.until(() => ofOrder(id).some(({ body }) => body.transaction.status === status));

test('a payment ends when the provider reports the outcome, long before its order would be polled again', async () => {
  const id = await pay(slowAmount);
  expect(await shop.platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
});

test('late, duplicate and reordered webhooks settle a payment once, and the rail still watches for its return', async () => {
  relay.answer = holdBack;
  const before = await shop.platform.balanceOf(scene.usd);
  const id = await pay(1_000n);
  const order = await orderOf(id);
  await untilReported(order.id, 'COMPLETED');
  relay.answer = passOn;
  const held = ofOrder(order.id);
  const ids = held.map(({ id }) => id);
  expect(await stored(ids)).toBe(0);
  for (const webhook of [...held.toReversed(), ...held]) expect((await give(webhook)).status).toBe(200);
  expect(await shop.platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  await untilWorkedOn();
  expect(await stored(ids)).toBe(held.length);
  expect(await shop.platform.balanceOf(scene.usd)).toBe(before - 1_000n);
  // The completion is reported again. The order is still waiting for its last poll, which looks for a return.
  const [last] = held.slice(-1);
  const again = `Webhook:${randomUUID()}`;
  if (last) await give({ raw: last.raw, headers: signed(last.raw, again) });
  await untilWorkedOn();
  expect(await orderOf(id)).toMatchObject({ watched: true });
});

/** Returns the headers of a webhook, signed by default as the upstream service would sign it. */
function signed(raw: string, id = `Webhook:${randomUUID()}`, { at = new Date(), by = secret } = {}) {
  return signedHeaders({ id, body: raw, at }, [by]);
}

test('a payment is refunded as soon as the upstream service reports that the bank has returned it', async () => {
  const before = await shop.platform.balanceOf(scene.usd);
  const id = await pay(returnedAmount);
  expect(await shop.platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  // The bank returns the payment after an hour, which has now passed.
  await makeDue(two.upstream);
  await shop.platform.untilStatus(id, 'REFUNDED');
  expect(await shop.platform.balanceOf(scene.usd)).toBe(before);
});

test('a webhook stored by a process that then died is processed by another process', async () => {
  relay.answer = holdBack;
  const id = await pay(2_000n);
  const order = await orderOf(id);
  await untilReported(order.id, 'COMPLETED');
  relay.answer = passOn;
  const [webhook] = ofOrder(order.id).slice(-1);
  // Inserts a webhook as a process that died would have left it: attempted once, with its lease expired.
  await two.gateway.owner.query(
    `insert into rail_webhook (platform_id, webhook_id, body, attempts, due_at) values ($1, $2, $3, 1, clock_ms())`,
    [shop.platform.platformId, webhook?.id, Buffer.from(webhook?.raw ?? '')],
  );
  expect(await shop.platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  await untilWorkedOn();
});

const statusOf = async (id: string) => (await shop.platform.fieldsOf('customer', id, 'kycStatus')).kycStatus;

const untilKyc = (id: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(id)).toBe(status), 20_000);

/** Decides a customer's identity check in the upstream service, given the customer's id in the gateway. */
async function decideUpstream(id: string, kycStatus: string): Promise<void> {
  await shop.account.succeed('sandboxSetKycStatus', { customerId: await two.customerThere(id), kycStatus });
}

test('a webhook is not marked as done before it has been processed', async () => {
  relay.answer = holdBack;
  const { id } = await orderOf(await pay(slowAmount));
  const transaction = { status: 'PROCESSING', description: `order ${id}` };
  const raw = JSON.stringify({ type: 'OUTGOING_PAYMENT', transaction });
  const lock = ['select from rail_order where id = $1 for update', id] as const;
  await whileLocked(two.gateway.databaseUrl, lock, async () => {
    expect((await give({ raw, headers: signed(raw) })).status).toBe(200);
    const text = 'select due_at is not null as waits from rail_webhook where attempts > 0 and body = $1';
    // If the process dies at this point, another process takes over.
    await untilRows(two.gateway, [{ waits: true }], text, Buffer.from(raw));
  });
  await untilWorkedOn();
  relay.answer = passOn;
});

test('a pending identity check is decided when its provider reports the result, and follows later changes', async () => {
  const id = await shop.platform.newCustomer('Person 001');
  expect(await statusOf(id)).toBe('PENDING_REVIEW');
  await decideUpstream(id, 'APPROVED');
  await untilKyc(id, 'APPROVED');
  await decideUpstream(id, 'EXPIRED');
  await untilKyc(id, 'EXPIRED');
  await sequenced(two.gateway);
  const filter = `{ types: [KYC_STATUS], customerId: "${id}" }`;
  const { events } = await shop.platform.ask(
    `{ events(first: 10, filter: ${filter}) { edges { node { webhookBody } } } }`,
  );
  const said = events.edges.map(({ node }: Data) => JSON.parse(node.webhookBody).kycStatus);
  expect(said).toEqual(expect.arrayContaining(['APPROVED', 'EXPIRED']));
});

test('an identity check without a webhook is polled until it is decided or the name changes', async () => {
  relay.answer = holdBack;
  const id = await shop.platform.newCustomer('Person 001');
  const renamed = await shop.platform.newCustomer('Another 001');
  const due = async () => {
    const { rows } = await two.gateway.owner.query(
      "update identity_check set due_at = clock_ms() where due_at > clock_timestamp() + interval '10 minutes' returning customer_id",
    );
    return rows.map(({ customer_id: customerId }) => `Customer:${customerId}`);
  };
  expect((await due()).sort()).toEqual([id, renamed].sort());
  // The checks are still pending when they are polled, so each waits for its next poll.
  const later = "select from identity_check where attempts = 1 and due_at > clock_timestamp() + interval '10 minutes'";
  await untilRows(two.gateway, [{}, {}], later);
  const details = { individual: { fullName: 'Grace Hopper' } };
  await shop.platform.succeed('updateCustomer', { customerId: renamed, details }, 'customer { id }');
  expect(await statusOf(renamed)).toBe('APPROVED');
  await decideUpstream(id, 'REJECTED');
  expect(await due()).toEqual([id]);
  await untilKyc(id, 'REJECTED');
  expect((await two.gateway.owner.query('select from identity_check')).rowCount).toBe(0);
  relay.answer = passOn;
});

test('a webhook without a valid signature for this platform is refused and not stored', async () => {
  const other = await two.connected('without a secret');
  const raw = JSON.stringify({ type: 'TEST', test: true });
  const ids: unknown[] = [];
  const from = (client: string, headers: Record<string, string>) => {
    if (headers['webhook-id']) ids.push(headers['webhook-id']);
    return { raw, headers: { ...headers, 'x-forwarded-for': client } };
  };
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
    message: "not a webhook from this platform's provider: its signature is missing or wrong",
  });
  // The limit is six invalid webhooks a minute from one address.
  expect((await give(from('198.51.100.1', signed(raw)))).status).toBe(429);
  const long = 'x'.repeat(100 * 1024 + 1);
  const tooLong = signed(long);
  expect((await give({ raw: long, headers: tooLong })).status).toBe(413);
  expect((await fetch(shop.webhookUrl)).status).toBe(405);
  expect(await stored([...ids, tooLong['webhook-id']])).toBe(0);
  expect((await give(from('198.51.100.2', signed(raw)))).status).toBe(200);
  expect(await stored(ids)).toBe(1);
  await untilWorkedOn();
});

test('a signed webhook with a duplicate member is refused with 400 and not stored', async () => {
  const raw = '{"type":"OUTGOING_PAYMENT","transaction":{"status":"PROCESSING","st\\u0061tus":"FAILED"}}';
  const headers = signed(raw);
  const refused = await give({ raw, headers });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: 'INVALID_INPUT', message: 'transaction.status is given twice' });
  expect(await stored([headers['webhook-id']])).toBe(0);
});

test("strangers who share a provider's address do not block its webhooks", async () => {
  const raw = JSON.stringify({ type: 'TEST', test: true });
  const from = (headers: Record<string, string>) =>
    give({ raw, headers: { ...headers, 'x-forwarded-for': '198.51.100.3' } });
  expect((await from(signed(raw))).status).toBe(200);
  const wrong = [];
  for (let count = 0; count < 7; count += 1) wrong.push((await from({})).status);
  expect(wrong).toEqual([401, 401, 401, 401, 401, 401, 401]);
  expect((await from(signed(raw))).status).toBe(200);
  // Invalid signatures still count toward the limit if the platform has never received a valid one from this address.
  const other = await two.connected('a neighbor of the provider');
  expect((await give({ raw, headers: { 'x-forwarded-for': '198.51.100.3' } }, other.webhookUrl)).status).toBe(429);
  await untilWorkedOn();
});

test('a processed webhook is deleted after 30 days, and an unprocessed one is kept', async () => {
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
