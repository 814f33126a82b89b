import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restScene } from '../setup/rest.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 100_000);

const umaAddress = '$success.eur@sandbox.uma.money';
const sender = { FULL_NAME: 'Grace Hopper', BIRTH_DATE: '1906-12-09', PURPOSE_OF_PAYMENT: 'GIFT' };

/** Looks up the receiver as in the specification's workflow. By default, the scene's customer is the sender. */
async function lookUp(query = `?platformUserId=${scene.customer.platformCustomerId}`): Promise<string> {
  return (await rest.ask('GET', `/receiver/${encodeURIComponent(umaAddress)}${query}`)).id;
}

/** Returns the request body of the UMA workflow (specification 4.1), which has no source and no destination. */
const workflow = (lookupId: string) => ({
  lookupId,
  sendingCurrencyCode: 'USD',
  receivingCurrencyCode: 'EUR',
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 10_000,
  description: 'a present',
  senderUserInfo: sender,
});

test('a receiver is looked up under either path, by an encoded or a plain address', async () => {
  for (const path of [
    '/receiver/$success.usd@sandbox.uma.money',
    '/receiver/%24success.usd%40sandbox.uma.money',
    '/receiver/uma/%24success.usd%40sandbox.uma.money',
  ]) {
    const lookup = await rest.ask('GET', path);
    expect(lookup).toMatchObject({
      id: expect.stringMatching(/^Lookup:/),
      lookupId: lookup.id,
      receiverUmaAddress: '$success.usd@sandbox.uma.money',
      receiver: { handle: '$success.usd@sandbox.uma.money', network: 'UMA' },
    });
    const [preferred] = lookup.supportedCurrencies;
    expect(preferred).toMatchObject({ code: 'USD', decimals: 2 });
    expect(lookup.constraints).toMatchObject({
      minAmount: { amount: preferred.min, currency: { code: 'USD' } },
      maxAmount: { amount: preferred.max, currency: { code: 'USD' } },
    });
    // Only the older path returns these fields.
    const isOlder = path.includes('/uma/');
    const { code, name, symbol, decimals } = preferred;
    expect(preferred.currency).toEqual(isOlder ? { code, name, symbol, decimals } : undefined);
    const asked = lookup.requiredPayerDataFields;
    expect(asked?.flatMap((one: Data) => (one.mandatory ? [one.name] : []))).toEqual(
      isOlder ? lookup.requiredPayerFields : undefined,
    );
  }
});

test('a customer of the same installation is found, and the sender must be a customer of the platform', async () => {
  const { customer } = scene;
  const path = `/receiver/${encodeURIComponent(customer.umaAddress)}`;
  const lookup = await rest.ask('GET', `${path}?platformUserId=${customer.platformCustomerId}`);
  expect(lookup).toMatchObject({ receiverUmaAddress: customer.umaAddress, requiredPayerFields: ['FULL_NAME'] });
  await rest.ask('GET', `${path}?customerId=${customer.id}&platformUserId=${customer.platformCustomerId}`);
  // The both-apis tests cover the other ways to name the sender.
  const answer = await rest.ask('GET', `${path}?platformUserId=nobody`, undefined, 404);
  expect(answer).toMatchObject({ code: 'USER_NOT_FOUND', details: { field: 'platformUserId' } });
});

test('if several customers share a platformCustomerId, the sender must be named by customer id', async () => {
  const { umaAddress, platformCustomerId, id } = scene.customer;
  const path = `/receiver/${encodeURIComponent(umaAddress)}?platformUserId=${platformCustomerId}`;
  const body = { customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Grace Hopper' };
  const twin = await rest.make('/customers', body);
  expect(await rest.ask('GET', path, undefined, 400)).toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('several customers'),
    details: { field: 'platformUserId' },
  });
  await rest.ask('GET', `${path}&customerId=${id}`);
  // Once the twin is deleted, the platformCustomerId is unambiguous again.
  await rest.ask('DELETE', `/customers/${twin.id}`);
  await rest.ask('GET', path);
});

test('the shorter form of the UMA workflow pays from the customer’s account in the sending currency', async () => {
  const senders = [
    `?platformUserId=${scene.customer.platformCustomerId}`,
    `?customerId=${scene.customer.id}`,
    `?senderUmaAddress=${encodeURIComponent(scene.customer.umaAddress)}`,
  ];
  for (const query of senders) {
    const quote = await rest.make('/quotes', workflow(await lookUp(query)));
    expect(quote).toMatchObject({
      source: { sourceType: 'ACCOUNT', accountId: scene.usd.id, customerId: scene.customer.id, currency: 'USD' },
      destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' },
      totalSendingAmount: 10_000,
      description: 'a present',
    });
  }
});

test('the short and full forms, sent with one key, count as the same request, even after the lookup has expired', async () => {
  const lookupId = await lookUp();
  const full = {
    lookupId,
    source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'EUR' },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 10_000,
    description: 'a present',
    senderCustomerInfo: sender,
  };
  const first = await rest.call('POST', '/quotes', { body: workflow(lookupId), key: 'either-form' });
  expect(first.status).toBe(201);
  await t.owner.query("update lookup set expires_at = 'epoch'");
  for (const body of [full, workflow(lookupId), { ...full, senderUserInfo: sender }]) {
    const again = await rest.call('POST', '/quotes', { body, key: 'either-form' });
    expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }
  const late = await rest.ask('POST', '/quotes', workflow(lookupId), 404);
  expect(late).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND', details: { field: 'lookupId' } });
});

test('a currency code given along with a source or a destination is checked against it', async () => {
  const lookupId = await lookUp();
  const { sendingCurrencyCode: _code, ...body } = workflow(lookupId);
  const source = { sourceType: 'ACCOUNT', accountId: scene.usd.id };
  const paid = { ...body, source };
  await rest.make('/quotes', { ...paid, sendingCurrencyCode: 'USD' });
  const plain = { source, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 500 };
  const toEur = { ...plain, destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur.id } };
  await rest.make('/quotes', { ...toEur, receivingCurrencyCode: 'EUR' });
  const dollars = { destinationType: 'UMA_ADDRESS', umaAddress, currency: 'USD' };
  const [unborn, shod] = [
    { ...sender, BIRTH_DATE: '1906-13-09' },
    { ...sender, SHOE_SIZE: '44' },
  ];
  const tooMuch = { lockedCurrencyAmount: 9_000_000, immediatelyExecute: true };
  const funding = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
  const cases = [
    [400, 'INVALID_CURRENCY', 'sendingCurrencyCode', { ...paid, sendingCurrencyCode: 'EUR' }],
    [400, 'INVALID_INPUT', 'sendingCurrencyCode', { ...body, source: funding, sendingCurrencyCode: 'EUR' }],
    [400, 'INVALID_CURRENCY', 'receivingCurrencyCode', { ...toEur, receivingCurrencyCode: 'MXN' }],
    [400, 'INVALID_INPUT', 'receivingCurrencyCode', { ...paid, destination: dollars }],
    [400, 'INVALID_CURRENCY', 'receivingCurrencyCode', { ...paid, receivingCurrencyCode: 'MXN' }],
    [400, 'INVALID_INPUT', 'senderUserInfo', { ...paid, senderCustomerInfo: { FULL_NAME: 'Ada' } }],
    [400, 'MISSING_MANDATORY_USER_INFO', 'senderUserInfo', { ...paid, senderUserInfo: { FULL_NAME: 'Ada' } }],
    [400, 'INVALID_INPUT', 'senderUserInfo.BIRTH_DATE', { ...paid, senderUserInfo: unborn }],
    [400, 'INVALID_INPUT', 'senderCustomerInfo.SHOE_SIZE', { ...plain, lookupId, senderCustomerInfo: shod }],
    [400, 'INVALID_CURRENCY', 'sendingCurrencyCode', { ...workflow(lookupId), sendingCurrencyCode: 'XXX' }],
    [400, 'INSUFFICIENT_BALANCE', 'sendingCurrencyCode', { ...workflow(lookupId), ...tooMuch }],
    [404, 'LOOKUP_REQUEST_NOT_FOUND', 'lookupId', workflow('Lookup:x')],
    [400, 'INVALID_INPUT', 'source', workflow(await lookUp(''))],
  ] as const;
  for (const [status, code, field, sent] of cases) {
    const refused = await rest.call('POST', '/quotes', { body: sent });
    expect({ sent, ...refused }).toMatchObject({ status, body: { code, details: { field } } });
  }
});

test('data missing from both request and lookup is reported, with all other invalid fields', async () => {
  const fields = async (body: object) => {
    const { errors } = (await rest.ask('POST', '/quotes', body, 400)).details;
    return errors.map(({ field, constraint }: Data) => [field, constraint]);
  };
  const missing = (field: string) => [field, 'required'];
  const ends = [missing('source'), missing('destination')];
  const rest1 = [missing('lockedCurrencySide'), missing('lockedCurrencyAmount')];
  expect((await fields({})).sort()).toEqual([...ends, ...rest1].sort());
  const locked = { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 5 };
  expect(await fields({ ...locked, sendingCurrencyCode: 'USD' })).toEqual(ends);
  expect(await fields({ ...locked, lookupId: 'Lookup:x' })).toEqual([missing('source')]);
});
