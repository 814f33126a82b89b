import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);

const codes = (config: Data) => config.supportedCurrencies.map((entry: Data) => entry.currencyCode);
let made = 0;

/** Returns the currencies of a new customer's internal accounts, and its UMA address. */
async function newCustomer() {
  made += 1;
  const customer = await rest.make('/customers', { customerType: 'INDIVIDUAL', platformCustomerId: `c${made}` });
  const { data } = await rest.ask('GET', `/customers/internal-accounts?customerId=${customer.id}`);
  return { uma: customer.umaAddress, currencies: data.map((account: Data) => account.balance.currency.code).sort() };
}

test('changed settings apply to customers created afterwards', async () => {
  const before = await rest.ask('GET', '/config');
  expect(before).toMatchObject({
    id: expect.stringMatching(/^PlatformConfig:/),
    isRegulatedFinancialInstitution: false,
  });
  expect((await newCustomer()).currencies).toEqual([...codes(before)].sort());

  const narrowed = await rest.ask('PATCH', '/config', {
    umaDomain: 'pay.example.com',
    supportedCurrencies: before.supportedCurrencies.filter((entry: Data) =>
      ['USD', 'EUR'].includes(entry.currencyCode),
    ),
  });
  expect(narrowed.umaDomain).toBe('pay.example.com');
  expect(codes(narrowed).sort()).toEqual(['EUR', 'USD']);
  expect(await rest.ask('GET', '/config')).toEqual(narrowed);
  expect(await newCustomer()).toEqual({
    uma: expect.stringMatching(/^\$.+@pay\.example\.com$/),
    currencies: ['EUR', 'USD'],
  });

  // A change of nothing keeps the time of the last change.
  expect(await rest.ask('PATCH', '/config', {})).toEqual(narrowed);
  expect(await rest.ask('PATCH', '/config', { umaDomain: 'pay.example.com' })).toEqual(narrowed);

  const widened = await rest.ask('PATCH', '/config', {
    supportedCurrencies: [{ currencyCode: 'USD' }, { currencyCode: 'MXN' }],
  });
  expect(codes(widened)).toEqual(['USD', 'MXN']);
  expect(widened.umaDomain).toBe('pay.example.com');
  const platform = await rest.ask('GET', '/platform/internal-accounts?currency=MXN');
  expect(platform.data).toHaveLength(1);
});

test('settings that are invalid, taken or not offered are refused', async () => {
  const other = await restClient(t.url, (await t.newPlatform('other')).authorization);
  const taken = (await other.ask('GET', '/config')).umaDomain;
  const cases = [
    [409, 'CONFLICT', 'umaDomain', { umaDomain: taken }],
    [400, 'INVALID_INPUT', 'umaDomain', { umaDomain: 'not a domain' }],
    [400, 'INVALID_CURRENCY', 'supportedCurrencies.0', { supportedCurrencies: [{ currencyCode: 'XXX' }] }],
    [
      400,
      'INVALID_INPUT',
      'supportedCurrencies.1',
      { supportedCurrencies: [{ currencyCode: 'USD' }, { currencyCode: 'USD' }] },
    ],
    [400, 'INVALID_INPUT', 'supportedCurrencies', { supportedCurrencies: [] }],
    [
      501,
      'NOT_IMPLEMENTED',
      'supportedCurrencies.0.minAmount',
      { supportedCurrencies: [{ currencyCode: 'USD', minAmount: 500 }] },
    ],
  ] as const;
  for (const [status, code, field, body] of cases) {
    const refused = await rest.call('PATCH', '/config', { body });
    expect(refused).toMatchObject({ status, body: { code, details: { field } } });
  }
});
