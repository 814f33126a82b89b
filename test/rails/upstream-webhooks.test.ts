import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseRange } from '../../src/http/client-address.ts';
import { deleteExpired } from '../../src/work/housekeeping.ts';
import { actOn, ended, succeed, transactionOf } from '../setup/acts.ts';
import type { Data } from '../setup/gateway.ts';
import { balanceOf, makeScene, newCustomer, type Scene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { type Received, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { returnedAmount, slowAmount } from './returning-rail.ts';
import { type Connected, startTwoGateways, type TwoGateways } from './two-gateways.ts';

/** Webhooks of an upstream service. By itself it is asked again only after an hour here: a test would not see that. */

let two: TwoGateways;
let shop: Connected;
let scene: Scene;
let secret: string;
/** What stands between upstream and the gateway: it passes webhooks on, or holds them back. */
let relay: Receiver;

beforeAll(async () => {
  two = await startTwoGateways(
    { pollMs: 3_600_000, identityMs: 3_600_000 },
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

/** How many of the webhooks with these ids the gateway has stored. Others may arrive at any time: those of payments before. */
async function stored(ids: unknown[]): Promise<number> {
  const { rows } = await two.gateway.owner.query(
    'select count(*)::int as stored from rail_webhook where webhook_id = any($1)',
    [ids],
  );
  return rows[0].stored;
}

const untilWorkedOn = () =>
  vi.waitFor(async () => {
    const { rows } = await two.gateway.owner.query(
      'select webhook_id from rail_webhook where platform_id = $1 and due_at is not null',
      [shop.platform.platformId],
    );
    expect(rows).toEqual([]);
  }, 20_000);

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
  const held = ofOrder(order.id);
  const ids = held.map(({ id }) => id);
  expect(await stored(ids)).toBe(0);
  for (const webhook of [...held.toReversed(), ...held]) expect((await give(webhook)).status).toBe(200);
  expect(await ended(shop.platform, id)).toMatchObject({ status: 'COMPLETED' });
  await untilWorkedOn();
  expect(await stored(ids)).toBe(held.length);
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

const statusOf = async (id: string) =>
  (await shop.platform.ask('query ($id: ID!) { customer(id: $id) { kycStatus } }', { id })).customer.kycStatus;

const untilKyc = (id: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(id)).toBe(status), 20_000);

/** Decides the identity check of a customer upstream, whom upstream knows by our id. */
async function decideUpstream(id: string, kycStatus: string): Promise<void> {
  const { rows } = await two.upstream.owner.query(
    'select id from customer where platform_customer_id like $1 order by id desc limit 1',
    [`${id.replace('Customer:', '')}-%`],
  );
  await succeed(
    shop.account,
    'sandboxSetKycStatus',
    { customerId: `Customer:${rows[0].id}`, kycStatus },
    'customer { id }',
  );
}

test('a webhook that is worked on is not done before its work is', async () => {
  relay.answer = holdBack;
  const { id } = await orderOf(await pay(slowAmount));
  const holder = new pg.Client({ connectionString: two.gateway.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from rail_order where id = $1 for update', [id]);
  const raw = JSON.stringify({
    type: 'OUTGOING_PAYMENT',
    transaction: { status: 'PROCESSING', description: `order ${id}` },
  });
  expect((await give({ raw, headers: signed(raw) })).status).toBe(200);
  await vi.waitFor(async () => {
    const { rows } = await two.gateway.owner.query(
      'select due_at is not null as waits from rail_webhook where platform_id = $1 and attempts > 0 and body = $2',
      [shop.platform.platformId, Buffer.from(raw)],
    );
    // A process that dies now leaves it to another.
    expect(rows).toEqual([{ waits: true }]);
  }, 20_000);
  await holder.query('rollback');
  await holder.end();
  await untilWorkedOn();
  relay.answer = passOn;
});

test('an identity that is still checked is decided when its provider says so, and changes when the provider changes it', async () => {
  const id = await newCustomer(shop.platform, 'Person 001');
  expect(await statusOf(id)).toBe('PENDING_REVIEW');
  await decideUpstream(id, 'APPROVED');
  await untilKyc(id, 'APPROVED');
  await decideUpstream(id, 'EXPIRED');
  await untilKyc(id, 'EXPIRED');
  const { events } = await shop.platform.ask(
    'query ($id: ID!) { events(first: 10, filter: { types: [KYC_STATUS], customerId: $id }) { edges { node { webhookBody } } } }',
    { id },
  );
  expect(events.edges.map(({ node }: Data) => JSON.parse(node.webhookBody).kycStatus)).toEqual(
    expect.arrayContaining(['APPROVED', 'EXPIRED']),
  );
});

test('an identity whose decision no webhook has reported is asked about again, until it is decided or has another name', async () => {
  relay.answer = holdBack;
  const [id, renamed] = [
    await newCustomer(shop.platform, 'Person 001'),
    await newCustomer(shop.platform, 'Another 001'),
  ];
  const due = async () => {
    const { rows } = await two.gateway.owner.query(
      "update identity_check set due_at = clock_ms() where due_at > clock_timestamp() + interval '10 minutes' returning customer_id",
    );
    return rows.map(({ customer_id: customerId }) => `Customer:${customerId}`);
  };
  expect((await due()).sort()).toEqual([id, renamed].sort());
  // Asked again, they are still checked: each waits for its next question.
  await vi.waitFor(async () => {
    const { rows } = await two.gateway.owner.query(
      "select from identity_check where attempts = 1 and due_at > clock_timestamp() + interval '10 minutes'",
    );
    expect(rows).toHaveLength(2);
  }, 20_000);
  const details = { individual: { fullName: 'Grace Hopper' } };
  await succeed(shop.platform, 'updateCustomer', { customerId: renamed, details }, 'customer { id }');
  expect(await statusOf(renamed)).toBe('APPROVED');
  await decideUpstream(id, 'REJECTED');
  expect(await due()).toEqual([id]);
  await untilKyc(id, 'REJECTED');
  expect((await two.gateway.owner.query('select from identity_check')).rowCount).toBe(0);
  relay.answer = passOn;
});

test('what nobody has signed for this platform is refused, and nothing of it is stored', async () => {
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
    message: 'no webhook of a provider of this platform: its signature is missing or wrong',
  });
  // Six wrong ones a minute: the next is not even looked at, and that of another address is.
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

test('a signed webhook that says something twice is refused with 400, and nothing of it is stored', async () => {
  const raw = '{"type":"OUTGOING_PAYMENT","transaction":{"status":"PROCESSING","st\\u0061tus":"FAILED"}}';
  const headers = signed(raw);
  const refused = await give({ raw, headers });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: 'INVALID_INPUT', message: 'transaction.status is given twice' });
  expect(await stored([headers['webhook-id']])).toBe(0);
});

test('strangers who share the address of a provider do not keep its webhooks out', async () => {
  const raw = JSON.stringify({ type: 'TEST', test: true });
  const from = (headers: Record<string, string>) =>
    give({ raw, headers: { ...headers, 'x-forwarded-for': '198.51.100.3' } });
  expect((await from(signed(raw))).status).toBe(200);
  const wrong = [];
  for (let count = 0; count < 7; count += 1) wrong.push((await from({})).status);
  expect(wrong).toEqual([401, 401, 401, 401, 401, 401, 401]);
  expect((await from(signed(raw))).status).toBe(200);
  // They count all the same: who has shown no right signature at this address is braked.
  const other = await two.connected('a neighbour of the provider');
  expect((await give({ raw, headers: { 'x-forwarded-for': '198.51.100.3' } }, other.webhookUrl)).status).toBe(429);
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
