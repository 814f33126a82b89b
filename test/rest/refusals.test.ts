import { expect, test } from 'vitest';
import { moving } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { passDelay } from '../setup/passing-time.ts';
import { restClient, restQuote, restScene, restTransfer, usAccount } from '../setup/rest.ts';
import { sequenced } from '../setup/streams.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 1_000);

type Case = readonly [status: number, code: string, field: string, body: object];

/**
 * Sends each body, and checks that the refusal names the faulty field. The both-apis tests cover the faults that both
 * APIs share.
 */
async function refused(path: string, cases: readonly Case[]): Promise<void> {
  for (const [status, code, field, body] of cases) {
    const answer = await rest.call('POST', path, { body });
    const details = { field, reason: expect.stringMatching(/./), errors: [expect.objectContaining({ field })] };
    expect({ sent: body, ...answer }).toMatchObject({ sent: body, status, body: { status, code, details } });
  }
}

const unknownCustomer = 'Customer:01a1fc11-db75-7eac-9cd6-93f3db60e56b';

test('an invalid quote is refused', async () => {
  const good = restQuote(scene.usd.id, scene.outsideEur.id, 1_000);
  const waiting = await restScene(rest, 0, 'Ada Lovelace 001');
  const from = (source: object) => ({ ...good, source });
  const funded = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
  const pesos = { ...good.destination, currency: 'MXN' };
  await refused('/quotes', [
    [404, 'USER_NOT_FOUND', 'source.customerId', from({ ...funded, customerId: unknownCustomer })],
    [400, 'INVALID_CURRENCY', 'source.currency', from({ ...funded, currency: 'XXX' })],
    [400, 'INVALID_CURRENCY', 'destination.currency', { ...good, destination: pesos }],
    [400, 'INVALID_INPUT', 'source.customerId', from({ ...good.source, customerId: waiting.customer.id })],
    [400, 'INVALID_INPUT', 'source.sourceType', from({ sourceType: 'CASH' })],
    [400, 'INVALID_INPUT', 'lockedCurrencySide', { ...good, lockedCurrencySide: 'BOTH' }],
    [400, 'INVALID_AMOUNT', 'lockedCurrencyAmount', { ...good, lockedCurrencyAmount: 1.5 }],
    [400, 'INVALID_AMOUNT', 'lockedCurrencyAmount', { ...good, lockedCurrencyAmount: '1000' }],
    [400, 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount', { ...good, lockedCurrencyAmount: 9_000_000_000_000_001 }],
    [400, 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount', { ...good, lockedCurrencyAmount: 1e300 }],
    [400, 'INVALID_INPUT', 'immediatelyExecute', { ...from(funded), immediatelyExecute: true }],
    [403, 'USER_NOT_READY', 'source', from({ sourceType: 'ACCOUNT', accountId: waiting.usd.id })],
  ]);
});

test('an invalid transfer is refused', async () => {
  const out = restTransfer(scene.usd.id, scene.outsideUsd.id, 100);
  const into = { source: { accountId: scene.outsideUsd.id }, destination: { accountId: scene.usd.id } };
  await refused('/transfer-out', [
    [400, 'INVALID_INPUT', 'source.accountId', { ...out, source: out.destination }],
    [400, 'INVALID_INPUT', 'destination.accountId', { ...out, destination: { accountId: scene.eur.id } }],
    [400, 'INVALID_CURRENCY', 'destination.accountId', { ...out, destination: { accountId: scene.outsideEur.id } }],
    [400, 'INVALID_CURRENCY', 'source.currency', { ...out, source: { ...out.source, currency: 'EUR' } }],
    [400, 'AMOUNT_OUT_OF_RANGE', 'amount', { ...out, amount: 9_000_000_000_000_001 }],
  ]);
  // A number beyond the safe integer range is refused for the same reason.
  const { body } = await rest.call('POST', '/transfer-out', { body: { ...out, amount: 1e300 } });
  expect(body.details.reason).toContain('must be at most 9000000000000000');
  await refused('/transfer-in', [
    [400, 'INVALID_INPUT', 'source.accountId', { ...into, source: into.destination }],
    [400, 'INVALID_CURRENCY', 'destination.accountId', { ...into, destination: { accountId: scene.eur.id } }],
    [400, 'INVALID_AMOUNT', 'amount', { ...into, amount: -1 }],
  ]);
  const open = await rest.make('/transfer-in', into);
  expect(open.receivedAmount.amount).toBe(10_000);
});

test.each([
  [100.5, 'must be at most 100'],
  [-1, 'must be at least 0'],
  ['5', 'must be a number'],
  [1e-20, 'must be between 0 and 100 percent, with at most 13 decimals'],
])("an owner's share of %j percent is refused, and the message says why", async (percentageOwnership, message) => {
  const beneficialOwners = [{ fullName: 'Ada', individualType: 'DIRECTOR', percentageOwnership }];
  const company = { customerType: 'BUSINESS', platformCustomerId: 'c', businessInfo: { legalName: 'Acme' } };
  const { status, body } = await rest.call('POST', '/customers', { body: { ...company, beneficialOwners } });
  const field = 'beneficialOwners.0.percentageOwnership';
  expect({ status, errors: body.details.errors }).toMatchObject({
    ...{ status: 400, errors: [{ field, message: expect.stringMatching(new RegExp(`^(a share )?${message}$`)) }] },
  });
});

test('invalid customers and accounts are refused, with all invalid fields in one error', async () => {
  const person = { customerType: 'INDIVIDUAL', platformCustomerId: 'p' };
  const company = { customerType: 'BUSINESS', platformCustomerId: 'c', businessInfo: { legalName: 'Acme' } };
  await refused('/customers', [
    [400, 'INVALID_INPUT', 'customerType', { ...person, customerType: 'ROBOT' }],
    [400, 'INVALID_INPUT', 'birthDate', { ...person, birthDate: '2001-02-29' }],
    [400, 'INVALID_INPUT', 'birthDate', { ...person, birthDate: '0000-01-01' }],
    [400, 'INVALID_INPUT', 'address.country', { ...person, address: { line1: 'a', postalCode: '1' } }],
    [400, 'INVALID_INPUT', 'beneficialOwners.0.individualType', { ...company, beneficialOwners: [{ fullName: 'x' }] }],
  ]);
  const account = { currency: 'USD', customerId: scene.customer.id, accountInfo: usAccount() };
  const info = (wrong: object) => ({ ...account, accountInfo: { ...account.accountInfo, ...wrong } });
  const { beneficiary: given } = account.accountInfo;
  const [birthDate, beneficiaryType] = ['0000-01-01', 'INDIVIDUAL'];
  await refused('/customers/external-accounts', [
    [400, 'INVALID_BANK_ACCOUNT', 'accountInfo.routingNumber', info({ routingNumber: undefined })],
    [400, 'INVALID_INPUT', 'accountInfo.beneficiary', info({ beneficiary: undefined })],
    [400, 'INVALID_INPUT', 'accountInfo.beneficiary.birthDate', info({ beneficiary: { ...given, birthDate } })],
    [400, 'INVALID_INPUT', 'accountInfo.beneficiary.fullName', info({ beneficiary: { beneficiaryType } })],
    [400, 'INVALID_INPUT', 'platformAccountId', { ...info({ platformAccountId: 'a' }), platformAccountId: 'b' }],
  ]);
  await rest.make('/customers/external-accounts', account);
  const twice = await rest.ask('POST', '/customers/external-accounts', account, 409);
  const existingId = expect.stringMatching(/^ExternalAccount:/);
  expect(twice).toMatchObject({ code: 'CONFLICT', details: { existingId } });

  const wrong = info({ accountNumber: 'x', beneficiary: { beneficiaryType: 'BUSINESS', legalName: 7 } });
  const many = await rest.ask('POST', '/customers/external-accounts', wrong, 400);
  expect(many.code).toBe('INVALID_INPUT');
  expect(many.details.errors.map((error: Data) => error.field)).toEqual(
    expect.arrayContaining(['accountInfo.accountNumber', 'accountInfo.beneficiary.legalName']),
  );
});

test('the sandbox refuses what it cannot simulate, and production refuses sandbox commands', async () => {
  const quote = await rest.make('/quotes', restQuote(scene.usd.id, scene.outsideEur.id, 1_000));
  await refused('/sandbox/send', [
    [400, 'INVALID_INPUT', 'quoteId', { quoteId: quote.quoteId, currencyCode: 'USD' }],
    [400, 'INVALID_AMOUNT', 'currencyAmount', { quoteId: quote.quoteId, currencyCode: 'USD', currencyAmount: 0 }],
  ]);
  await refused(`/sandbox/internal-accounts/${scene.usd.id}/fund`, [
    [400, 'INVALID_AMOUNT', 'amount', { amount: 0 }],
    [400, 'AMOUNT_OUT_OF_RANGE', 'amount', { amount: 100_000_000_001 }],
  ]);

  const real = await restClient(t.url, (await t.newPlatform('real', 'PRODUCTION')).authorization);
  const forbidden = await real.ask('POST', '/sandbox/send', { quoteId: quote.quoteId, currencyCode: 'USD' }, 403);
  expect(forbidden.code).toBe('FORBIDDEN');
});

test('exchange rates match those in quotes, and amounts that cannot be priced are refused', async () => {
  const rates = (query: string, status = 200) => rest.ask('GET', `/exchange-rates?${query}`, undefined, status);
  const both = 'destinationCurrency=EUR&destinationCurrency=MXN';
  const { data } = await rates(`sourceCurrency=USD&${both}&sendingAmount=50000`);
  expect(data.map((rate: Data) => rate.destinationCurrency.code)).toEqual(['EUR', 'MXN']);
  const repeated = '&destinationCurrency=EUR'.repeat(100);
  expect((await rates(`sourceCurrency=USD${repeated}`)).data).toHaveLength(1);
  const quote = await rest.make('/quotes', restQuote(scene.usd.id, scene.outsideEur.id, 50_000));
  expect(data[0]).toMatchObject({
    sourceCurrency: { code: 'USD', decimals: 2 },
    destinationPaymentRail: 'SEPA_INSTANT',
    sendingAmount: 50_000,
    receivingAmount: quote.totalReceivingAmount,
    exchangeRate: quote.exchangeRate,
    fees: { total: quote.feesIncluded },
  });
  expect((await rates('sourceCurrency=USD')).data.length).toBeGreaterThan(5);
  const details = { errors: [{ field: 'sourceCurrency', constraint: 'required' }] };
  expect(await rates('', 400)).toMatchObject({ code: 'INVALID_INPUT', details });
  const unknown = { code: 'INVALID_CURRENCY', details: { field: 'sourceCurrency' } };
  expect(await rates('sourceCurrency=XXX', 400)).toMatchObject(unknown);
  for (const [amount, code] of [
    ['1&destinationCurrency=EUR', 'AMOUNT_OUT_OF_RANGE'],
    ['0', 'INVALID_AMOUNT'],
    ['-1', 'INVALID_AMOUNT'],
    ['9000000000000001', 'AMOUNT_OUT_OF_RANGE'],
    ['9'.repeat(30), 'AMOUNT_OUT_OF_RANGE'],
  ]) {
    const none = await rates(`sourceCurrency=USD&sendingAmount=${amount}`, 400);
    expect(none).toMatchObject({ code, details: { field: 'sendingAmount' } });
  }
});

test('a balance above 2^53 is never rounded: REST refuses to return it, and webhooks omit it', async () => {
  const most = 9_000_000_000_000_000;
  const full = await restScene(rest, 0);
  const { data } = await rest.ask('GET', '/platform/internal-accounts');
  expect(data.length).toBeGreaterThan(0);
  const bringIn = async () => {
    const { id } = await rest.make('/transfer-in', restTransfer(full.outsideUsd.id, full.usd.id, most));
    expect((await t.platform.ended(id)).status).toBe('COMPLETED');
  };
  await bringIn();
  const sandboxScenario = { delayMs: 3_600_000, failureReason: 'OFFRAMP_FAILED' };
  const transfer = moving(full.usd.id, full.outsideUsd.id, most, { sandboxScenario });
  const { transaction } = await t.platform.succeed('transferOut', transfer, 'transaction { id }');
  await bringIn();
  const path = `/customers/internal-accounts?customerId=${full.customer.id}`;
  await passDelay(t, transaction.id);
  expect((await t.platform.ended(transaction.id)).status).toBe('FAILED');
  expect(await rest.ask('GET', path, undefined, 400)).toMatchObject({
    code: 'AMOUNT_OUT_OF_RANGE',
    message: `${2 * most} of ${full.usd.id} is beyond 2^53, so a JSON number cannot represent it exactly; read it over GraphQL`,
    details: { accountId: full.usd.id },
  });
  expect((await rest.ask('GET', `${path}&currency=EUR`)).data).toHaveLength(1);
  await sequenced(t);
  const { events } = await t.platform.ask(
    'query ($of: EventFilter) { events(last: 1, filter: $of) { nodes { webhookBody } } }',
    { of: { types: ['ACCOUNT_STATUS'], customerId: full.customer.id } },
  );
  const webhook = JSON.parse(events.nodes[0].webhookBody);
  expect(webhook).toMatchObject({ accountId: full.usd.id, oldBalance: { amount: most } });
  expect(webhook).not.toHaveProperty('newBalance');
});

test('a payment that exceeds a limit is refused with the limit, the amount used and the time when it will fit', async () => {
  const customer = await restScene(rest, 1_000, 'Ada Lovelace');
  const limits = [{ period: 'LAST_24_HOURS', currency: 'USD', amount: { units: 500 } }];
  await t.platform.succeed('setPolicy', { subjectId: customer.customer.id, limits });
  const send = (amount: number) =>
    rest.call('POST', '/transfer-out', { body: restTransfer(customer.usd.id, customer.outsideUsd.id, amount) });
  expect(await send(400)).toMatchObject({ status: 201 });
  expect(await send(200)).toMatchObject({
    status: 403,
    body: {
      code: 'LIMIT_EXCEEDED',
      details: {
        ...{ rule: 'LIMIT', subjectId: customer.customer.id, freeAt: expect.stringMatching(/Z$/) },
        limit: { period: 'LAST_24_HOURS', amount: 500, usedAmount: 400, leftAmount: 100, currency: { code: 'USD' } },
      },
    },
  });
});
