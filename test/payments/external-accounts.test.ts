import { describe, expect, test } from 'vitest';
import { accountExamples } from '../../src/core/account-examples.ts';
import { type AccountType, accountTypes } from '../../src/core/account-types.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { createExternalAccount } from '../../src/domain/accounts/external-accounts.ts';
import { executeQuote } from '../../src/domain/quotes/execute-quote.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';
import { act, between, fieldsOf, idsIn, quote, refusal } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway, withRail } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { defaultAccounts, makeScene, newCustomer, usAccount } from '../setup/scene.ts';

const t = await testGateway();
const { platform } = t;
const customerId = (await makeScene(platform)).customerId;

const beneficiary = { individual: { fullName: 'Grace Hopper', birthDate: '1990-12-09', nationality: 'US' } };

/** Registers an account for the customer, and returns the member of the result. */
async function register(input: object, as: TestPlatform = platform): Promise<Data> {
  return act(
    as,
    'createExternalAccount',
    input,
    `account { id status statusReason currency { code } customer { id } platformAccountId defaultUmaDepositAccount
      accountInfo { __typename ... on UsAccountInfo { accountType accountNumber } }
      beneficiary { __typename ... on IndividualBeneficiary { fullName birthDate } ... on BusinessBeneficiary { legalName taxId } }
      beneficiaryVerificationStatus beneficiaryVerifiedData { fullName } }`,
  );
}

/**
 * Each kind of account with its currency and a valid form. account-types.test.ts tests what each kind accepts and
 * refuses.
 */
const kinds = (Object.entries(accountTypes) as [ExternalAccountType, AccountType][]).map(
  ([accountType, { graphql, currencies, beneficiary: isOwned }]) => ({
    ...{ kind: graphql.input, type: graphql.type, currency: currencies[0], isOwned },
    right: accountExamples[accountType].taken[0] as Record<string, string>,
  }),
);

describe.each(kinds)('$kind', ({ kind, type, currency, right, isOwned }) => {
  const owner = isOwned ? { beneficiary } : {};

  test('is accepted in its own form and is immediately ACTIVE in the sandbox', async () => {
    const { account } = await register({ customerId, currency, accountInfo: { [kind]: right }, ...owner });
    expect(account).toMatchObject({
      status: 'ACTIVE',
      currency: { code: currency },
      customer: { id: customerId },
      accountInfo: { __typename: type },
      beneficiary: isOwned ? { fullName: 'Grace Hopper', birthDate: '1990-12-09' } : null,
      beneficiaryVerificationStatus: isOwned ? 'MATCHED' : null,
      beneficiaryVerifiedData: isOwned ? { fullName: 'Grace Hopper' } : null,
    });
  });

  test('is refused in a currency that is not its own', async () => {
    const refused = await register({ customerId, currency: 'JPY', accountInfo: { [kind]: right }, ...owner });
    expect(refused).toMatchObject(refusal('INVALID_CURRENCY', 'currency'));
  });

  test(isOwned ? 'needs its beneficiary' : 'has no beneficiary', async () => {
    const other = isOwned ? {} : { beneficiary };
    const refused = await register({ customerId, currency, accountInfo: { [kind]: right }, ...other });
    expect(refused.code).toBe('INVALID_INPUT');
  });
});

describe('the form descriptions for screens', () => {
  test('agree with the validation of each type: valid fields fit, and invalid ones do not', async () => {
    const { externalAccountForms } = await platform.ask(`{ externalAccountForms { ${formFields} } }`);
    expect(externalAccountForms.map(({ inputField }: Data) => inputField).sort()).toEqual(
      [...new Set(kinds.map(({ kind }) => kind))].sort(),
    );
    for (const { kind, currency, right, isOwned } of kinds) {
      const form = externalAccountForms.find(({ inputField }: Data) => inputField === kind);
      expect(form.currencies.map(({ code }: Data) => code)).toContain(currency);
      expect(form.beneficiaryRequired).toBe(isOwned);
      expect(faultsIn(form, right)).toEqual([]);
      for (const name of Object.keys(right)) expect(faultsIn(form, { ...right, [name]: '' })).toEqual([name]);
    }
  });

  test('are filtered by currency; an unknown currency is refused', async () => {
    const types = async (currency: string) => {
      const forms = await platform.ask(`{ externalAccountForms(currency: "${currency}") { accountType } }`);
      return forms.externalAccountForms.map(({ accountType }: Data) => accountType);
    };
    expect(await types('USDC')).toEqual(['SOLANA_WALLET', 'POLYGON_WALLET', 'BASE_WALLET']);
    expect(await types('JPY')).toEqual([]);
    const { errors } = await platform.send('{ externalAccountForms(currency: "XXX") { accountType } }');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_CURRENCY', field: 'currency' });
  });
});

const formFields = `accountType inputField beneficiaryRequired exactlyOneOf currencies { code }
  fields { name required allowedValues pattern format formatDependsOn formatsByValue { value pattern format } }`;

/** Returns the fields that a screen would refuse to send if it knew only the form. */
function faultsIn({ fields, exactlyOneOf }: Data, details: Readonly<Record<string, string | undefined>>): string[] {
  if (exactlyOneOf.length > 0 && exactlyOneOf.filter((name: string) => name in details).length !== 1)
    return exactlyOneOf;
  return fields.flatMap((field: Data) => {
    const value = details[field.name];
    if (value === undefined) return field.required ? [field.name] : [];
    const byValue = field.formatsByValue.find((one: Data) => one.value === details[field.formatDependsOn]);
    const fits =
      (field.allowedValues?.includes(value) ?? true) &&
      [field.pattern, byValue?.pattern].every(
        // Browsers compile the pattern attribute with the v flag.
        (pattern) => !pattern || ['u', 'v'].every((flag) => new RegExp(pattern, flag).test(value)),
      );
    return fits ? [] : [field.name];
  });
}

/** The input of a US account. */
const usInput = (accountNumber: string, rest: object = { customerId }) => ({
  ...{ currency: 'USD', accountInfo: usAccount(accountNumber), beneficiary },
  ...rest,
});

test('a company can own an account', async () => {
  const company = { business: { legalName: 'Engines Ltd', taxId: 'T-1' } };
  const { account } = await register(usInput('7770001', { customerId, beneficiary: company }));
  expect(account).toMatchObject({
    beneficiary: { __typename: 'BusinessBeneficiary', ...company.business },
    beneficiaryVerifiedData: { fullName: 'Engines Ltd' },
  });
});

test.each([
  ['102', 'NOT_MATCHED', null, ': compared "Grace Hopper" with the name at the bank, which was not reported'],
  ['103', 'PARTIAL_MATCH', 'G. Hopper', ': compared "Grace Hopper" with "G. Hopper"'],
  ['104', 'PENDING', null, ''],
  ['106', 'UNSUPPORTED', null, ''],
  ['107', 'CHECKED_BY_RECEIVING_FI', null, ''],
  ['000', 'MATCHED', 'Grace Hopper', null],
])(
  'an account number ending in %s is verified as %s, with the names compared',
  async (suffix, status, fullName, compared) => {
    const statusReason = compared === null ? null : `sandbox suffix ${suffix}${compared}`;
    const { account } = await register(usInput(`88800${suffix}`));
    expect(account).toMatchObject({
      status: 'ACTIVE',
      beneficiaryVerificationStatus: status,
      beneficiaryVerifiedData: fullName === null ? null : { fullName },
      statusReason,
    });
    const rest = await restClient(t.url, platform.authorization);
    const { data } = await rest.ask('GET', `/customers/external-accounts?customerId=${customerId}&limit=100`);
    const record = data.find(({ id }: Data) => id === account.id);
    expect(record.statusReason ?? null).toBe(statusReason);
  },
);

test('the explanation quotes the name in the form in which the provider compared it', async () => {
  const payments = withRail(t, {
    checkAccount: async () => ({
      ...{ accepted: true, status: 'ACTIVE', verification: 'PARTIAL_MATCH' },
      ...{ comparedName: 'HOPPER GRACE', verifiedName: 'HOPPER G' },
    }),
  });
  const caller = platformItself({ platformId: platform.platformId, environment: 'SANDBOX' });
  const { row } = await createExternalAccount(payments, caller, {
    ...{ currency: 'USD', accountType: 'US_ACCOUNT', details: usAccount('88802000').usAccount, customerId },
    beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    defaultUmaDepositAccount: false,
  });
  expect(row.statusReason).toBe('compared "HOPPER GRACE" with "HOPPER G"');
});

test('a quote that pulls is refused at its execution if the rail does not collect money, and stays open', async () => {
  const { outsideUsd, outsideEur } = await makeScene(platform);
  const { id } = await quote(platform, between(outsideUsd, outsideEur, 1_000));
  const payments = withRail(t, { collect: undefined } as object);
  const caller = platformItself({ platformId: platform.platformId, environment: 'SANDBOX' });
  const refused = { code: 'SERVICE_UNAVAILABLE', message: 'the rail of SANDBOX platforms does not collect money' };
  await expect(executeQuote(payments, caller, { quoteId: id })).rejects.toMatchObject(refused);
  expect(await fieldsOf(platform, 'quote', id, 'status')).toEqual({ status: 'PENDING' });
});

test('the sandbox suffix of a UPI address comes before the @', async () => {
  const input = { customerId, currency: 'INR', beneficiary, accountInfo: { upi: { vpa: 'grace.102@bank' } } };
  expect(await register(input)).toMatchObject({ account: { beneficiaryVerificationStatus: 'NOT_MATCHED' } });
});

test('an account number ending in 105 is refused', async () => {
  expect(await register(usInput('88800105'))).toMatchObject({
    __typename: 'InvalidInputError',
    ...refusal('INVALID_BANK_ACCOUNT', 'accountInfo', 'usAccount'),
  });
});

describe('the default account for incoming UMA payments', () => {
  const isDefault = { defaultUmaDepositAccount: true };
  const defaults = (owner: string) => defaultAccounts(platform, owner);

  test('is unique even if many are created concurrently', async () => {
    const owner = await newCustomer(platform);
    const many = ['01', '02', '03', '04', '05', '06'];
    await Promise.all(many.map((end) => register(usInput(`99910${end}`, { customerId: owner, ...isDefault }))));
    expect(await defaults(owner)).toHaveLength(1);
  });

  test('is never the platform’s own account', async () => {
    const refused = refusal('INVALID_INPUT', 'defaultUmaDepositAccount');
    expect(await register(usInput('9990009', isDefault))).toMatchObject(refused);
  });
});

test('a platform has its own accounts, and other owners may register the same account', async () => {
  const made = { __typename: 'CreateExternalAccountSuccess' };
  const own = await register(usInput('6660001', { platformAccountId: 'treasury' }));
  expect(own.account).toMatchObject({ customer: null, platformAccountId: 'treasury' });
  expect(await register(usInput('6660001', {}))).toMatchObject({ code: 'CONFLICT' });
  expect(await register(usInput('6660001'))).toMatchObject(made);
  expect(await idsIn(platform, 'accounts', { kind: 'EXTERNAL', platformOwned: true })).toEqual([own.account.id]);
  expect(await register(usInput('6660001', {}), await t.newPlatform('stranger'))).toMatchObject(made);
});
