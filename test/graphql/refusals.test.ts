import { describe, expect, test } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { usdToEur } from '../setup/acts.ts';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { passExpiry } from '../setup/passing-time.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(10_000n);

const funds =
  '... on InsufficientFundsError { available { decimal currency { code } } required { decimal currency { code } } }';
const expiry = '... on QuoteExpiredError { expiredAt }';
const existing =
  '... on ConflictError { existing { __typename id ... on Quote { status } ... on ExternalAccount { verification: beneficiaryVerificationStatus } } }';

/** Creates a server token that may pay but not view. */
const blindServer = () => t.platform.serverOf('TRANSACT');

/** Runs a mutation. Returns its refusal with the selected fields. */
async function refusalOf(platform: TestPlatform, name: Operation, input: object, facts = ''): Promise<Data> {
  const shown = `{ code message path fields { path code message } } ${facts}`;
  const document = mutationDocument(name).replace('{ code message path }', shown);
  return (await platform.ask(document, mutationVariables(name, input)))[name];
}

const transfer = (rest: object) => ({ sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, ...rest });

describe('a refusal lists all invalid fields, each with its path, its code and its message', () => {
  test('for a new account', async () => {
    const refused = await refusalOf(t.platform, 'createExternalAccount', {
      customerId: scene.customerId,
      currency: 'EUR',
      accountInfo: { usAccount: { accountNumber: 'x', routingNumber: '1', accountCategory: 'CHECKING' } },
      beneficiary: { individual: { fullName: ' ', nationality: 'Germany' } },
      platformAccountId: 'a\0',
    });
    const words = expect.stringMatching(/\w+ \w+/);
    expect(refused).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' });
    expect(refused.fields).toEqual(
      [
        ['currency', 'INVALID_CURRENCY'],
        ['accountInfo.usAccount.accountNumber', 'INVALID_BANK_ACCOUNT'],
        ['accountInfo.usAccount.routingNumber', 'INVALID_BANK_ACCOUNT'],
        ['beneficiary.individual.fullName', 'INVALID_INPUT'],
        ['beneficiary.individual.nationality', 'INVALID_INPUT'],
        ['platformAccountId', 'INVALID_INPUT'],
      ].map(([path = '', code]) => ({ path: ['input', ...path.split('.')], code, message: words })),
    );
    expect(refused.path).toEqual(refused.fields[0].path);
  });

  test('for a new customer, including the addresses of its owners', async () => {
    const owner = { fullName: 'Ada', individualType: 'DIRECTOR', phoneNumber: '1', percentageOwnership: '101' };
    const address = { line1: 'x', postalCode: ' ', country: 'de' };
    const refused = await refusalOf(t.platform, 'createCustomer', {
      platformCustomerId: ' ',
      details: { business: { legalName: ' ', taxId: 'a\0', beneficialOwners: [{ ...owner, address }] } },
      umaAddress: 'nobody',
    });
    expect(refused.fields.map(({ path }: Data) => path.slice(1).join('.'))).toEqual([
      'platformCustomerId',
      'details.business.legalName',
      'details.business.taxId',
      'details.business.beneficialOwners.0.address.postalCode',
      'details.business.beneficialOwners.0.address.country',
      'details.business.beneficialOwners.0.phoneNumber',
      'details.business.beneficialOwners.0.percentageOwnership',
      'umaAddress',
    ]);
  });

  test('for a transfer between accounts that do not exist', async () => {
    const unknown = '00000000-0000-7000-8000-000000000000';
    const ids = { sourceAccountId: `InternalAccount:${unknown}`, destinationAccountId: `ExternalAccount:${unknown}` };
    expect(await refusalOf(t.platform, 'transferOut', { ...ids, amount: 1 })).toMatchObject({
      __typename: 'NotFoundError',
      code: 'ACCOUNT_NOT_FOUND',
      message: 'no such account',
      fields: [{ path: ['input', 'sourceAccountId'] }, { path: ['input', 'destinationAccountId'] }],
    });
  });

  test('for malformed scalars', async () => {
    const refused = await refusalOf(t.platform, 'createCustomer', {
      platformCustomerId: 'wrong-days',
      details: {
        business: {
          legalName: 'Analytical Engines',
          beneficialOwners: ['yesterday', '1985-12-10', '2026-02-30'].map((birthDate) => ({
            fullName: 'Ada Lovelace',
            individualType: 'DIRECTOR',
            birthDate,
          })),
        },
      },
    });
    expect(refused).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' });
    expect(refused.fields.map(({ path }: Data) => path.at(-2))).toEqual([0, 2]);
  });
});

describe('an amount', () => {
  const announcement = async () => ({
    senderUmaAddress: '$anybody@elsewhere.example',
    receiver: { umaAddress: await t.platform.umaAddressOf(scene.customerId) },
    currency: 'USD',
  });

  test.each([{ units: '100' }, { units: 100 }, { decimal: '1' }, { decimal: '1.0' }, { decimal: '1.00' }])(
    'given as %j is one dollar',
    async (amount) => {
      const success = 'transaction { sentAmount { amount decimal } }';
      const { transaction } = await t.platform.succeed('transferOut', transfer({ amount }), success);
      expect(transaction.sentAmount).toEqual({ amount: '100', decimal: '1.00' });
    },
  );

  test.each([
    [{ decimal: '1.005' }, 'INVALID_AMOUNT', /^USD has at most 2 decimal places, but 1.005 has 3$/],
    [{ decimal: '1.000' }, 'INVALID_AMOUNT', /decimal places/],
    [{ decimal: '0.00' }, 'INVALID_AMOUNT', /at least 0.01 USD/],
    [{ decimal: '-1' }, 'INVALID_AMOUNT', /at least 0.01 USD/],
    [{ decimal: '1e2' }, 'INVALID_AMOUNT', /digits with an optional point/],
    [{ decimal: 1.5 }, 'INVALID_AMOUNT', /digits with an optional point/],
    [{ decimal: '90000000000000.01' }, 'AMOUNT_OUT_OF_RANGE', /at most 90000000000000.00 USD/],
    [{ units: '12.50' }, 'INVALID_AMOUNT', /a 64-bit integer/],
    [{ units: 0 }, 'INVALID_AMOUNT', /at least 0.01 USD/],
  ])('given as %j is refused: %s', async (amount, code, message) => {
    const path = ['input', 'amount', ...Object.keys(amount)];
    expect(await refusalOf(t.platform, 'transferOut', transfer({ amount }))).toMatchObject({
      __typename: 'InvalidInputError',
      code,
      message: expect.stringMatching(message),
      path,
      fields: [{ path, code }],
    });
  });

  test.each([undefined, {}, { units: '100', decimal: '1' }, { decimal: null }])(
    'given as %j does not match the schema, which requires exactly one of two forms',
    async (amount) => {
      const input = transfer({ amount, idempotencyKey: 'fits' });
      const { status, errors } = await t.platform.send(mutationDocument('transferOut'), { input });
      expect({ status, errors }).toMatchObject({ status: 422, errors: [{ extensions: { code: 'INVALID_INPUT' } }] });
    },
  );

  test("in major units has its currency's decimal places, in every input that takes an amount", async () => {
    const locked = async (rest: object) => {
      const input = usdToEur(scene, { lockedCurrencyAmount: undefined, ...rest });
      const success = 'quote { totalSendingAmount { decimal } totalReceivingAmount { decimal } }';
      return (await t.platform.succeed('createQuote', input, success)).quote;
    };
    const sending = await locked({ lockedCurrencyAmount: { decimal: '10.5' } });
    expect(sending.totalSendingAmount).toEqual({ decimal: '10.50' });
    const receiving = await locked({ lockedCurrencyAmount: { decimal: '7.25' }, lockedCurrencySide: 'RECEIVING' });
    expect(receiving.totalReceivingAmount).toEqual({ decimal: '7.25' });

    const { exchangeRates } = await t.platform.ask(
      '{ exchangeRates(source: "JPY", destinations: ["USD"], sendingAmount: { decimal: "1500" }) { sendingAmount { amount } } }',
    );
    expect(exchangeRates).toEqual([{ sendingAmount: { amount: '1500' } }]);

    const source = { realtimeFunding: { customerId: scene.customerId, currency: 'USDC' } };
    const funded = await t.platform.quote({ ...usdToEur(scene), source, lockedCurrencyAmount: 2_500_000 });
    const sent = { quoteId: funded.id, currency: 'USDC', amount: { decimal: '2.5000001' } };
    expect(await refusalOf(t.platform, 'sandboxSend', sent)).toMatchObject({
      path: ['input', 'amount', 'decimal'],
      message: 'USDC has at most 6 decimal places, but 2.5000001 has 7',
    });

    const filled = { accountId: scene.usd, amount: { decimal: '0.01' } };
    await t.platform.succeed('sandboxFundAccount', filled);
    const incoming = { ...(await announcement()), amount: { decimal: '3.21' } };
    const success = 'transaction { receivedAmount { amount } }';
    const received = await t.platform.succeed('sandboxReceiveUma', incoming, success);
    expect(received.transaction.receivedAmount).toEqual({ amount: '321' });
  });

  test('may be repeated in the other form with the same key, but a different amount is refused', async () => {
    const internal = { ...transfer({}), destinationAccountId: await t.platform.ownAccount('USD') };
    const pulled = { sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd };
    const quoted = usdToEur(scene, { lockedCurrencyAmount: undefined });
    const source = { realtimeFunding: { customerId: scene.customerId, currency: 'USDC' } };
    const funded = await t.platform.quote({ ...usdToEur(scene), source, lockedCurrencyAmount: 2_500_000 });
    const commands: readonly [Operation, object, field: string, selection?: string][] = [
      ['transferOut', transfer({}), 'amount'],
      ['transferIn', pulled, 'amount'],
      ['transferInternal', internal, 'amount'],
      ['sandboxFundAccount', { accountId: scene.usd }, 'amount', 'replayed account { id }'],
      ['createQuote', quoted, 'lockedCurrencyAmount', 'replayed quote { id }'],
      ['createQuote', { ...quoted, lockedCurrencySide: 'RECEIVING' }, 'lockedCurrencyAmount', 'replayed quote { id }'],
      ['createQuote', { ...quoted, source }, 'lockedCurrencyAmount', 'replayed quote { id }'],
      ['sandboxSend', { quoteId: funded.id, currency: 'USDC' }, 'amount'],
      ['sandboxReceiveUma', await announcement(), 'amount'],
    ];
    for (const [index, [name, rest, field, selection = 'replayed transaction { id }']] of commands.entries()) {
      const decimals = JSON.stringify(rest).includes('USDC') ? 6 : 2;
      const input = { ...rest, idempotencyKey: `either-${index}` };
      const units = { ...input, [field]: 10 ** decimals + 10 ** (decimals - 2) };
      const first = await t.platform.succeed(name, units, selection);
      for (const decimal of ['1.01', '1.010000'.slice(0, decimals + 2)]) {
        const again = await t.platform.succeed(name, { ...input, [field]: { decimal } }, selection);
        expect({ name, ...again }).toEqual({ name, ...first, replayed: true });
      }
      const other = await refusalOf(t.platform, name, { ...input, [field]: { decimal: '1.02' } });
      expect({ name, ...other }).toMatchObject({ name, code: 'IDEMPOTENCY_MISMATCH' });
    }
  });
});

describe('a refusal states the relevant facts', () => {
  const dear = () => usdToEur(scene, { lockedCurrencyAmount: 1_000_000, immediatelyExecute: true });
  const usd = (decimal: unknown) => ({ decimal, currency: { code: 'USD' } });

  test('insufficient funds: what is available and what is required, if the caller may see the balance', async () => {
    const refused = await refusalOf(t.platform, 'createQuote', dear(), funds);
    expect(refused).toMatchObject({
      __typename: 'InsufficientFundsError',
      available: usd(expect.any(String)),
      required: usd('10000.00'),
    });
    expect(refused.message).toBe(`the account holds ${refused.available.decimal} USD, but 10000.00 USD is needed`);

    const blind = await blindServer();
    const { message, available, required } = await refusalOf(blind, 'createQuote', dear(), funds);
    const hidden = { message: 'the account does not hold enough money', available: null, required: null };
    expect({ message, available, required }).toEqual(hidden);
  });

  test('an expired quote: when it expired', async () => {
    const { id, transaction } = await t.platform.quote(usdToEur(scene));
    await passExpiry(t, id);
    await t.platform.ended(transaction.id);
    const { expiresAt } = await t.platform.fieldsOf('quote', id, 'expiresAt');
    const refused = await refusalOf(t.platform, 'executeQuote', { quoteId: id }, expiry);
    expect(refused).toMatchObject({ __typename: 'QuoteExpiredError', expiredAt: expiresAt });
  });

  test('a conflict: the existing object', async () => {
    const { id } = await t.platform.quote(usdToEur(scene));
    await t.platform.succeed('executeQuote', { quoteId: id });
    const again = await refusalOf(t.platform, 'executeQuote', { quoteId: id }, existing);
    expect(again).toMatchObject({
      __typename: 'ConflictError',
      message: 'only a quote that is PENDING can be executed: it is PROCESSING',
      existing: { __typename: 'Quote', id, status: 'PROCESSING' },
    });

    const account = {
      customerId: scene.customerId,
      currency: 'MXN',
      accountInfo: { clabe: { clabeNumber: '646180111812345000' } },
      beneficiary: { individual: { fullName: 'Grace Hopper' } },
    };
    const first = (await t.platform.succeed('createExternalAccount', account, 'account { id }')).account.id;
    expect(await refusalOf(t.platform, 'createExternalAccount', account, existing)).toMatchObject({
      __typename: 'ConflictError',
      existing: { __typename: 'ExternalAccount', id: first },
    });

    const umaAddress = await t.platform.umaAddressOf(scene.customerId);
    const taken = { platformCustomerId: 'second', details: { individual: { fullName: 'Ada' } }, umaAddress };
    expect(await refusalOf(t.platform, 'createCustomer', taken, existing)).toMatchObject({
      code: 'UMA_ADDRESS_EXISTS',
      existing: { __typename: 'Customer', id: scene.customerId },
    });

    const customerId = await t.platform.newCustomer();
    await t.platform.succeed('deleteCustomer', { customerId });
    expect(await refusalOf(t.platform, 'deleteCustomer', { customerId }, existing)).toMatchObject({
      code: 'CUSTOMER_DELETED',
      existing: { __typename: 'Customer', id: customerId },
    });
  });

  test('a conflict: an app sees the existing object only if it has access to it', async () => {
    const { id } = await t.platform.quote(usdToEur(scene));
    const app = await t.platform.payingApp({ quoteId: id });
    await app.succeed('executeQuote', { quoteId: id });
    expect(await refusalOf(app, 'executeQuote', { quoteId: id }, existing)).toMatchObject({ existing: { id } });
  });

  test('without VIEW, a document that reads the existing object is refused before it executes', async () => {
    const { id } = await t.platform.quote(usdToEur(scene));
    const blind = await blindServer();
    expect(await refusalOf(blind, 'executeQuote', { quoteId: id }, existing)).toMatchObject({ code: 'FORBIDDEN' });
    const done = await t.platform.act('executeQuote', { quoteId: id }, 'quote { status }');
    expect(done).toMatchObject({ quote: { status: 'PROCESSING' } });
  });
});
