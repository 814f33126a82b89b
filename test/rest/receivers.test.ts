import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restScene } from '../setup/rest.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 0);

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
    // The fields that clients of the older path read.
    const isOlder = path.includes('/uma/');
    const { code, name, symbol, decimals } = preferred;
    expect(preferred.currency).toEqual(isOlder ? { code, name, symbol, decimals } : undefined);
    const asked = lookup.requiredPayerDataFields;
    expect(asked?.flatMap((one: Data) => (one.mandatory ? [one.name] : []))).toEqual(
      isOlder ? lookup.requiredPayerFields : undefined,
    );
  }
});

test('a customer of this installation is found, and the sender must be a customer of the platform', async () => {
  const { customer } = scene;
  const path = `/receiver/${encodeURIComponent(customer.umaAddress)}`;
  const lookup = await rest.ask('GET', `${path}?platformUserId=${customer.platformCustomerId}`);
  expect(lookup).toMatchObject({ receiverUmaAddress: customer.umaAddress, requiredPayerFields: ['FULL_NAME'] });
  await rest.ask('GET', `${path}?customerId=${customer.id}&platformUserId=${customer.platformCustomerId}`);
  // The both-apis tests cover the other ways to name the sender.
  const answer = await rest.ask('GET', `${path}?platformUserId=nobody`, undefined, 404);
  expect(answer).toMatchObject({ code: 'USER_NOT_FOUND', details: { field: 'platformUserId' } });
});

test("a platform id that several customers share needs the customer's own id to name the sender", async () => {
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
  // A deleted customer does not count.
  await rest.ask('DELETE', `/customers/${twin.id}`);
  await rest.ask('GET', path);
});
