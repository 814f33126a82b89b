import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { accountExamples } from '../../src/core/account-examples.ts';
import { type AccountType, accountTypes } from '../../src/core/account-types.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { createExternalAccount } from '../../src/domain/accounts/external-accounts.ts';
import { executeQuote } from '../../src/domain/quotes/execute-quote.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';
import { between, refusal, usdToEur } from '../setup/acts.ts';
import { type Data, setAccountStatus, type TestPlatform, testGateway, uuidIn, withRail } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

const t = await testGateway();
const { platform } = t;
const customerId = (await platform.makeScene()).customerId;

const beneficiary = { individual: { fullName: 'Grace Hopper', birthDate: '1990-12-09', nationality: 'US' } };

/** Registers an account for the customer. Returns the success or the refusal. */
async function register(input: object, as: TestPlatform = platform): Promise<Data> {
  return as.act(
    'createExternalAccount',
    input,
    `account { id status statusReason currency { code } customer { id } platformAccountId defaultUmaDepositAccount
      accountInfo { __typename ... on UsAccountInfo { accountType accountNumber } }
      beneficiary { __typename ... on IndividualBeneficiary { fullName birthDate } ... on BusinessBeneficiary { legalName taxId } }
      beneficiaryVerificationStatus beneficiaryVerifiedData { fullName } }`,
  );
}

/**
 * Each kind of account, with its currency and valid details. account-types.test.ts tests what each kind accepts and
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

  test('is accepted with details of its type, and is immediately ACTIVE in the sandbox', async () => {
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

describe('the form descriptions for user interfaces', () => {
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

/** Returns the fields whose values violate the form description. */
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
        // Browsers compile patterns with the v flag. Other clients may use the u flag.
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
  'an account number ending in %s gets the verification status %s, and the reason for a mismatch states the compared names',
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

test('the status reason contains the name that the provider compared', async () => {
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

test('executing a quote paid by a pull is refused if the rail does not collect money, and the quote stays PENDING', async () => {
  const { outsideUsd, outsideEur } = await platform.makeScene();
  const { id } = await platform.quote(between(outsideUsd, outsideEur, 1_000));
  const payments = withRail(t, { collect: undefined } as object);
  const caller = platformItself({ platformId: platform.platformId, environment: 'SANDBOX' });
  const refused = { code: 'SERVICE_UNAVAILABLE', message: 'the rail of SANDBOX platforms does not collect money' };
  await expect(executeQuote(payments, caller, { quoteId: id })).rejects.toMatchObject(refused);
  expect(await platform.fieldsOf('quote', id, 'status')).toEqual({ status: 'PENDING' });
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

const defaults = (owner: string) => platform.defaultAccounts(owner);

describe('the default account for incoming UMA payments', () => {
  const isDefault = { defaultUmaDepositAccount: true };

  test('is unique even if many are created concurrently', async () => {
    const owner = await platform.newCustomer();
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
  expect(await platform.idsIn('accounts', { kind: 'EXTERNAL', platformOwned: true })).toEqual([own.account.id]);
  expect(await register(usInput('6660001', {}), await t.newPlatform('stranger'))).toMatchObject(made);
});

/** Changes and deletions (decision 68). */
const changed = 'account { id status isDeleted platformAccountId defaultUmaDepositAccount }';
const change = (accountId: string, more: object): Promise<Data> =>
  platform.act('updateExternalAccount', { accountId, ...more }, changed);
const remove = (accountId: string): Promise<Data> => platform.act('deleteExternalAccount', { accountId }, changed);

/** Returns the ids of a customer's external accounts that appear in lists. */
async function listed({ customerId }: Scene, isIncludingDeleted?: boolean): Promise<string[]> {
  return (await platform.idsIn('accounts', { kind: 'EXTERNAL', customerId, isIncludingDeleted })).sort();
}

test('the platform’s own id for an account can be set, is unaffected by other changes, and can be removed', async () => {
  const { outsideUsd } = await platform.makeScene(0n);
  const own = async (more: object) => (await change(outsideUsd, more)).account.platformAccountId;
  expect(await own({ platformAccountId: 'ours-1' })).toBe('ours-1');
  expect(await own({ defaultUmaDepositAccount: true })).toBe('ours-1');
  expect(await own({ platformAccountId: null })).toBeNull();
  expect(await change(outsideUsd, { platformAccountId: 'x'.repeat(201) })).toMatchObject(
    refusal('INVALID_INPUT', 'platformAccountId'),
  );
});

test('removing the platform’s own id and leaving it unchanged count as different inputs under one key', async () => {
  const { outsideUsd } = await platform.makeScene(0n);
  await change(outsideUsd, { platformAccountId: 'ours-2' });
  const idempotencyKey = randomUUID();
  expect(await change(outsideUsd, { idempotencyKey })).toMatchObject({ account: { platformAccountId: 'ours-2' } });
  expect(await change(outsideUsd, { idempotencyKey, platformAccountId: null })).toMatchObject({
    code: 'IDEMPOTENCY_MISMATCH',
  });
  expect(await change(outsideUsd, { idempotencyKey })).toMatchObject({ replayed: true });
});

test('a customer has one default deposit account: setting another changes only the old and the new one, once each', async () => {
  const { customerId, outsideUsd, outsideEur } = await platform.makeScene(0n);
  /** Returns the version of each of the customer's accounts that has changed. */
  const versions = async (): Promise<Record<string, number>> => {
    const text = 'select id, version from account where customer_id = $1 and version > 1';
    const { rows } = await t.owner.query(text, [uuidIn(customerId)]);
    return Object.fromEntries(rows.map(({ id, version }) => [`ExternalAccount:${id}`, version]));
  };
  for (const [account, expected] of [
    [outsideUsd, { [outsideUsd]: 2 }],
    [outsideUsd, { [outsideUsd]: 3 }],
    [outsideEur, { [outsideUsd]: 4, [outsideEur]: 2 }],
  ] as const) {
    expect(await change(account, { defaultUmaDepositAccount: true })).toMatchObject({
      account: { id: account, status: 'ACTIVE', defaultUmaDepositAccount: true },
    });
    expect(await defaults(customerId)).toEqual([account]);
    expect(await versions()).toEqual(expected);
  }
  const wallet = { baseWallet: { address: `0x${'d'.repeat(40)}` } };
  const rest = { beneficiary: undefined, defaultUmaDepositAccount: true };
  const registered = await platform.externalAccount(customerId, 'USDC', wallet, rest);
  expect(await versions()).toEqual({ [outsideUsd]: 4, [outsideEur]: 3 });
  await change(outsideUsd, { defaultUmaDepositAccount: false });
  expect(await defaults(customerId)).toEqual([registered]);
  await change(registered, { defaultUmaDepositAccount: false });
  expect(await defaults(customerId)).toEqual([]);
  // If two accounts are concurrently made the default, only one of them stays the default.
  const both = [outsideUsd, outsideEur].map((id) => change(id, { defaultUmaDepositAccount: true }));
  for (const answer of await Promise.all(both)) expect(answer.code).toBeUndefined();
  expect(await defaults(customerId)).toHaveLength(1);
});

test('the status reason is kept when other fields change', async () => {
  const { outsideUsd: accountId } = await platform.makeScene(0n);
  const reason = 'a name to look at';
  await setAccountStatus(t, accountId, 'UNDER_REVIEW', reason);
  await change(accountId, { platformAccountId: 'ours-3' });
  const read = '... on ExternalAccount { status statusReason version }';
  const after = { status: 'UNDER_REVIEW', statusReason: reason, version: 3 };
  expect(await platform.fieldsOf('account', accountId, read)).toEqual(after);
});

test('a deleted account remains in old payments, but is in no list and cannot be used in new payments', async () => {
  const scene = await platform.makeScene(10_000n);
  const paid = await platform.pay(scene, 100, { sandboxScenario: { delayMs: 200 } });
  const waiting = await platform.quote(usdToEur(scene));
  await change(scene.outsideUsd, { defaultUmaDepositAccount: true });
  for (const account of [scene.outsideUsd, scene.outsideEur]) {
    expect(await remove(account)).toMatchObject({
      account: { id: account, status: 'INACTIVE', isDeleted: true, defaultUmaDepositAccount: false },
    });
  }
  // Payments in flight continue.
  const delivered = { status: 'COMPLETED', destination: { accountId: scene.outsideUsd } };
  expect(await platform.ended(paid.id)).toMatchObject(delivered);
  expect(await platform.execute(waiting.id)).toMatchObject({ code: 'INVALID_BANK_ACCOUNT' });
  expect(await platform.transfer('transferOut', scene, 1)).toMatchObject({ code: 'INVALID_BANK_ACCOUNT' });

  expect(await listed(scene)).toEqual([]);
  expect(await listed(scene, true)).toEqual([scene.outsideUsd, scene.outsideEur].sort());
  const node = await platform.fieldsOf('node', scene.outsideUsd, '... on ExternalAccount { status isDeleted }');
  expect(node).toEqual({ status: 'INACTIVE', isDeleted: true });
});

test('a deleted account is immutable, and can be registered again', async () => {
  const { customerId, outsideUsd } = await platform.makeScene(0n);
  const beneficiary = { individual: { fullName: 'Grace Hopper' } };
  const input = { customerId, currency: 'USD', accountInfo: usAccount('8800001'), beneficiary };
  const again = () => platform.act('createExternalAccount', input, 'account { id }');
  const first = (await again()).account.id;
  expect((await again()).code).toBe('CONFLICT');
  await remove(first);
  for (const refused of [await remove(first), await change(first, { platformAccountId: 'late' })]) {
    expect(refused).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' });
    expect(refused.message).toContain('DELETED');
  }
  expect((await again()).account.id).not.toBe(first);
  expect(await change(outsideUsd, {})).toMatchObject({ account: { id: outsideUsd, isDeleted: false } });
});
