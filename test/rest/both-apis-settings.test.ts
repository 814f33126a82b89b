import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Data, testGateway, whileLocked } from '../setup/gateway.ts';
import { restClient, restScene } from '../setup/rest.ts';
import { answer, testReceiver } from '../webhooks/receiver.ts';

/**
 * Tests lookups and settings, which have different names in the two APIs or exist in only one of them. Both APIs must
 * show the effects of random commands sent to either.
 */

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 0);
const receiver = await testReceiver(answer(202));

test('the settings in REST agree with the platform, customers and webhook endpoints in GraphQL', async () => {
  const acts = fc.record({
    currencies: fc.option(fc.uniqueArray(fc.constantFrom('USD', 'EUR', 'MXN', 'BTC'), { minLength: 1 }), {
      nil: undefined,
    }),
    umaDomain: fc.constantFrom(undefined, 'one.example.com', 'two.example.com'),
    trustedDocuments: fc.constantFrom(undefined, 'OPTIONAL', 'APPS'),
    endpoint: fc.constantFrom(undefined, null, '/one', '/two'),
    overRest: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(acts, async ({ currencies, umaDomain, trustedDocuments, endpoint, overRest }) => {
      const before = await rest.ask('GET', '/config');
      const webhookEndpoint = typeof endpoint === 'string' ? `${receiver.url}${endpoint}` : endpoint;
      const supportedCurrencies = currencies?.map((currencyCode) => ({ currencyCode }));
      // The endpoint is always set over REST, because GraphQL has a separate mutation for endpoints.
      const changed = await rest.ask('PATCH', '/config', {
        ...(overRest && { umaDomain, supportedCurrencies, trustedDocuments }),
        webhookEndpoint,
      });
      const key = randomUUID();
      const overGraphql = () =>
        t.platform.act(
          'updatePlatform',
          { umaDomain, currencies, trustedDocuments, idempotencyKey: key },
          platformFields,
        );
      if (!overRest) expect(await overGraphql()).toMatchObject({ replayed: false });
      const { webhookSecret, ...shown } = changed;
      const after = overRest ? shown : await rest.ask('GET', '/config');
      const { platform } = await t.platform.ask(`{ ${platformFields} }`);
      expect(platformAsRest(platform)).toEqual({ ...after, webhookEndpoint: undefined, webhookTokenId: undefined });
      if (!overRest) expect(await overGraphql()).toEqual(expect.objectContaining({ platform, replayed: true }));
      expect(await rest.ask('GET', '/config')).toEqual(after);
      const expected = webhookEndpoint === undefined ? before.webhookEndpoint : (webhookEndpoint ?? undefined);
      expect(after.webhookEndpoint).toBe(expected);
      expect(after.umaDomain).toBe(umaDomain ?? before.umaDomain);
      expect(after.trustedDocuments).toBe(trustedDocuments ?? before.trustedDocuments);
      expect(webhookSecret !== undefined).toBe(expected !== undefined && before.webhookEndpoint === undefined);

      const { webhookEndpoints } = await t.platform.ask('{ webhookEndpoints { edges { node { url } } } }');
      expect(webhookEndpoints.edges.map(({ node }: Data) => node.url)).toEqual(expected ? [expected] : []);
      const customerId = await newCustomer(overRest);
      const { customer } = await t.platform.ask(
        'query ($id: ID!) { customer(id: $id) { umaAddress accounts(first: 20) { edges { node { id currency { code } } } } } }',
        { id: customerId },
      );
      expect(customer.umaAddress).toContain(`@${after.umaDomain}`);
      const held = customer.accounts.edges.map(({ node }: Data) => node.currency.code).sort();
      expect(held).toEqual(after.supportedCurrencies.map((entry: Data) => entry.currencyCode).sort());
    }),
    { numRuns: 20 },
  );
});

const currencyTerms =
  'currency { code } minAmount { amount } maxAmount { amount } enabledTransactionTypes requiredCounterpartyFields { name mandatory } providerRequiredCustomerFields providerRequiredCounterpartyCustomerFields';
const platformFields = `platform { id umaDomain trustedDocuments isRegulatedFinancialInstitution createdAt updatedAt supportedCurrencies { ${currencyTerms} } }`;

/** Converts a platform from its GraphQL form to the REST settings, without the endpoint. */
const platformAsRest = ({ id, supportedCurrencies, ...others }: Data) => ({
  ...others,
  id: id.replace('Platform:', 'PlatformConfig:'),
  webhookEndpoint: undefined,
  supportedCurrencies: supportedCurrencies.map(({ currency, minAmount, maxAmount, ...terms }: Data) => ({
    currencyCode: currency.code,
    minAmount: Number(minAmount.amount),
    maxAmount: Number(maxAmount.amount),
    ...terms,
  })),
});

test('both APIs refuse the same platform settings, and the error names the field', async () => {
  const inRest = (...codes: string[]) => ({ supportedCurrencies: codes.map((currencyCode) => ({ currencyCode })) });
  const refusals = [
    [{ currencies: [] }, inRest(), 'INVALID_INPUT', 'supportedCurrencies', 'currencies'],
    [
      { currencies: ['USD', 'XXX'] },
      inRest('USD', 'XXX'),
      'INVALID_CURRENCY',
      'supportedCurrencies.1',
      'currencies',
      1,
    ],
    [{ currencies: ['USD', 'USD'] }, inRest('USD', 'USD'), 'INVALID_INPUT', 'supportedCurrencies.1', 'currencies', 1],
    ...['localhost', '', 'not a domain'].map(
      (umaDomain) => [{ umaDomain }, { umaDomain }, 'INVALID_INPUT', 'umaDomain', 'umaDomain'] as const,
    ),
  ] as const;
  for (const [input, body, code, field, ...path] of refusals) {
    const refused = await rest.call('PATCH', '/config', { body });
    expect(refused).toMatchObject({ status: 400, body: { code, details: { field } } });
    expect(await t.platform.act('updatePlatform', input)).toMatchObject({ code, path: ['input', ...path] });
  }
});

test('settings that another transaction has locked cause a 503 in both APIs, and the key stays unused', async () => {
  const change = { currencies: ['USD', 'EUR'], idempotencyKey: randomUUID() };
  const lock = ['select from platform where id = $1 for update', t.platform.platformId] as const;
  const [overRest, overGraphql] = await whileLocked(t.databaseUrl, lock, () =>
    Promise.all([
      rest.call('PATCH', '/config', { body: { supportedCurrencies: [{ currencyCode: 'USD' }] } }),
      t.platform.act('updatePlatform', change),
    ]),
  );
  expect(overRest).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  expect(overGraphql).toMatchObject({ __typename: 'UnavailableError', code: 'SERVICE_UNAVAILABLE' });
  expect(await t.platform.act('updatePlatform', change)).toMatchObject({ replayed: false });
});

async function newCustomer(overRest: boolean): Promise<string> {
  const platformCustomerId = randomUUID();
  if (overRest) return (await rest.make('/customers', { customerType: 'INDIVIDUAL', platformCustomerId })).id;
  const input = { platformCustomerId, details: { individual: {} } };
  return (await t.platform.succeed('createCustomer', input, 'customer { id }')).customer.id;
}

test('a lookup returns the same result in both APIs', async () => {
  const asked = fc.record({
    umaAddress: fc.constantFrom<string>(
      '$success.eur@sandbox.uma.money',
      '$success.mxn@sandbox.uma.money',
      '$non.existent.usd@sandbox.uma.money',
      'nobody',
      scene.customer.umaAddress,
    ),
    sender: fc.constantFrom<object>(
      {},
      { customerId: scene.customer.id },
      { senderUmaAddress: scene.customer.umaAddress },
      { customerId: 'Customer:x' },
      { senderUmaAddress: '$nobody@example.com' },
    ),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ umaAddress, sender }) => {
      const [[kind, value] = []] = Object.entries<string>({ ...sender });
      const query = kind ? `?${kind}=${encodeURIComponent(value ?? '')}` : '';
      const overRest = await rest.call('GET', `/receiver/${encodeURIComponent(umaAddress)}${query}`);
      const given = kind && { [kind === 'customerId' ? kind : 'umaAddress']: value };
      const answered = await t.platform.lookUp(umaAddress, { sender: given });
      if (answered.code) {
        const field = answered.path
          .slice(1)
          .join('.')
          .replace(/^umaAddress$/, 'receiverUmaAddress')
          .replace(/^sender\.umaAddress$/, 'senderUmaAddress')
          .replace(/^sender\./, '');
        expect(overRest.body).toMatchObject({ code: answered.code, details: { field } });
        return;
      }
      expect(overRest.body).toMatchObject({
        receiverUmaAddress: answered.umaAddress,
        receiver: { handle: answered.umaAddress, vaspName: answered.vaspName, network: answered.network },
        supportedCurrencies: answered.supportedCurrencies.map((one: Data) => ({
          ...one.currency,
          ...(one.estimatedExchangeRate && { estimatedExchangeRate: Number(one.estimatedExchangeRate) }),
          min: Number(one.minAmount.amount),
          max: Number(one.maxAmount.amount),
        })),
        requiredPayerFields: answered.requiredPayerFields
          .filter(({ mandatory }: Data) => mandatory)
          .map(({ name }: Data) => name),
      });
    }),
    { numRuns: 25 },
  );
});
