import { expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);

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
