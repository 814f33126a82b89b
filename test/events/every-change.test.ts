import { expect, test } from 'vitest';
import { type Data, testGateway, untilRows, uuidIn } from '../setup/gateway.ts';
import { sequenced } from '../setup/streams.ts';
import { createEndpoint, endpointUntil, replay, updateEndpoint } from '../webhooks/endpoint.ts';
import { answer, ownReceiver } from '../webhooks/receiver.ts';

/** Every change that a list shows is in the feed. */

const t = await testGateway();

const events = `subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) {
  cursor id type customer { id version isDeleted name kycStatus }
  subject { id __typename ... on WebhookDelivery { status event { id type } attempts { responseStatus } } } } }`;

/** Reads the changes after a position in the feed, up to the first for which `isLast` is true. */
const changesUntil = (after: string, filter: object, isLast: (event: Data) => boolean) =>
  t.platform.followed(events, { after, filter }, isLast);

test('the feed contains each version of a customer once, from the pending check to the deletion', async () => {
  const after = await t.platform.feedEnd();
  const customerId = await t.platform.newCustomer('Grace Hopper 001');
  const change = (fullName: string) =>
    t.platform.succeed('updateCustomer', { customerId, details: { individual: { fullName } } });
  // A new name is checked again.
  await change('Ada Lovelace');
  await change('Ada King');
  await t.platform.succeed('deleteCustomer', { customerId });
  const filter = { customerId, types: ['KYC_STATUS', 'CUSTOMER_CHANGE'] };
  const changes = await changesUntil(after, filter, ({ customer }) => customer.isDeleted);
  expect(changes.map(({ customer }) => customer.version)).toEqual(changes.map((_, at) => at + 1));
  expect(changes[0]).toMatchObject({
    type: 'CUSTOMER_CHANGE',
    subject: { id: customerId },
    customer: { kycStatus: 'PENDING_REVIEW' },
  });
  expect(changes.map(({ type, customer }) => [type, customer.name, customer.isDeleted])).toEqual([
    ['CUSTOMER_CHANGE', 'Grace Hopper 001', false],
    ['KYC_STATUS', 'Ada Lovelace', false],
    ['CUSTOMER_CHANGE', 'Ada King', false],
    ['CUSTOMER_CHANGE', 'Ada King', true],
  ]);
});

test('each version of each customer and account has exactly one event', async () => {
  const scene = await t.platform.makeScene();
  const register = (number: string) =>
    t.platform.succeed('createExternalAccount', {
      customerId: scene.customerId,
      currency: 'EUR',
      accountInfo: { iban: { iban: `DE8937040044053201${number}000`, swiftBic: 'COBADEFF' } },
      beneficiary: { individual: { fullName: 'Grace Hopper' } },
      defaultUmaDepositAccount: true,
    });
  await register('7');
  // The second account replaces the first one as the default, but the first one's status does not change.
  await register('8');
  const wrong = `select 'customer' as of, c.id, c.version, e.versions from customer c left join lateral (
       select array_agg(version order by sequence) as versions from event e
       where e.platform_id = c.platform_id and e.customer_id = c.id and e.type in ('KYC_STATUS', 'CUSTOMER_CHANGE')) e on true
     where e.versions is distinct from array(select generate_series(1, c.version))
     union all
     select 'account', a.id, a.version, e.versions from account a left join lateral (
       select array_agg(version order by sequence) as versions from event e
       where e.platform_id = a.platform_id and e.account_id = a.id) e on true
     where e.versions is distinct from array(select generate_series(1, a.version))`;
  await sequenced(t);
  expect((await t.owner.query(wrong)).rows).toEqual([]);
});

test('the end of a delivery is in the feed even if its endpoint was disabled, but is not itself sent by webhook', async () => {
  const receiver = await ownReceiver();
  const after = await t.platform.feedEnd();
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const filter = { types: ['WEBHOOK_DELIVERY'] };
  const [delivered] = await changesUntil(after, filter, ({ subject }) => subject.status === 'DELIVERED');
  expect(delivered.subject).toMatchObject({
    __typename: 'WebhookDelivery',
    event: { type: 'TEST' },
    attempts: [{ responseStatus: 200 }],
  });
  const { deliveries } = await endpointUntil(t.platform, id, () => true);
  expect(deliveries.map((delivery: Data) => delivery.id)).toEqual([delivered.subject.id]);

  // A delivery that is waiting for its next attempt ends when its endpoint is disabled.
  receiver.answer = answer(500);
  await t.platform.makeScene(1n);
  await endpointUntil(t.platform, id, (endpoint) => endpoint.deliveries.length > 1);
  await updateEndpoint(t.platform, { endpointId: id, enabled: false });
  const [failed] = await changesUntil(delivered.cursor, filter, ({ subject }) => subject.status === 'FAILED');
  expect(failed.subject.event.type).not.toBe('TEST');

  await updateEndpoint(t.platform, { endpointId: id, enabled: true });
  expect(await replay(t.platform, { endpointId: id, events: { eventId: failed.id } })).toMatchObject({ count: 0 });
  const passed =
    'select from webhook_endpoint e join feed_head h using (platform_id) where e.id = $1 and e.position = h.sequence';
  await untilRows(t, [{}], passed, uuidIn(id));
  const carried = `select v.type from webhook_delivery d join event v on v.platform_id = d.platform_id and v.sequence = d.event_sequence
    where v.type in ('WEBHOOK_DELIVERY', 'CUSTOMER_CHANGE', 'ACCOUNT_CHANGE', 'QUOTE_STATUS', 'EXTERNAL_ACCOUNT_STATUS')`;
  expect((await t.owner.query(carried)).rows).toEqual([]);
  expect(receiver.received.filter(({ body }) => body.type === 'WEBHOOK_DELIVERY')).toEqual([]);

  // Deliveries belong to the platform, so apps do not see events about them.
  const { customerId } = await t.platform.makeScene(0n);
  const app = await t.platform.appOf({ customerId });
  const { events: none } = await app.ask('{ events(filter: { types: [WEBHOOK_DELIVERY] }) { totalCount } }');
  expect(none).toEqual({ totalCount: 0 });
  const asked = { url: receiver.url, eventTypes: ['WEBHOOK_DELIVERY'] };
  expect(await t.platform.act('createWebhookEndpoint', asked)).toMatchObject({ code: 'INVALID_INPUT' });
});
