import { describe, expect, test } from 'vitest';
import { accountExamples } from '../../src/core/account-examples.ts';
import type { AccountDetails } from '../../src/core/account-fields.ts';
import { type AccountType, accountTypes } from '../../src/core/account-types.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { createExternalAccount } from '../../src/domain/accounts/external-accounts.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';
import type { AccountToCheck } from '../../src/rails/rail.ts';
import { type Data, type TestPlatform, testGateway, withRail } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { longTexts } from '../setup/strange-texts.ts';

// Tests what each type of external account accepts, stores and refuses, over both APIs, as documented in
// docs/accounts.md.

const t = await testGateway();
const live = await t.newPlatform('live', 'PRODUCTION');
const [sandboxRest, liveRest] = await Promise.all(
  [t.platform, live].map(({ authorization }) => restClient(t.url, authorization)),
);
const kinds = (Object.entries(accountTypes) as [ExternalAccountType, AccountType][]).map(([accountType, type]) => ({
  accountType,
  type,
  ...accountExamples[accountType],
}));

/** Registers an account for a new customer, or for the platform, over GraphQL. */
async function register(as: TestPlatform, type: AccountType, details: AccountDetails, isOwn = false): Promise<Data> {
  const input = {
    customerId: isOwn ? undefined : await as.newCustomer(),
    currency: type.currencies[0],
    accountInfo: { [type.graphql.input]: details },
    ...(type.beneficiary && { beneficiary: { individual: { fullName: 'Grace Hopper' } } }),
  };
  return as.act('createExternalAccount', input, 'account { id } warnings { path code message }');
}

/** Registers an account for a new customer over REST. Returns the response body. */
async function registerInRest(as: TestPlatform, accountType: string, type: AccountType, details: object) {
  const rest = as === live ? liveRest : sandboxRest;
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = { accountType, ...details, ...(type.beneficiary && { beneficiary }) };
  const body = { customerId: await as.newCustomer(), currency: type.currencies[0], accountInfo };
  return (await rest?.call('POST', '/customers/external-accounts', { body }))?.body as Data;
}

/** Returns an account's details as the API shows them. */
async function shownDetails(as: TestPlatform, type: AccountType, id: string): Promise<Data> {
  const fields = Object.keys(type.fields).join(' ');
  const document = `query ($id: ID!) { account(id: $id) {
    ... on ExternalAccount { accountInfo { ... on ${type.graphql.type} { ${fields} } } } } }`;
  return (await as.ask(document, { id })).account.accountInfo;
}

const present = (details: object) =>
  Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null && value !== undefined));

describe.each(kinds)('$accountType', ({ accountType, type, taken, refused }) => {
  test('PRODUCTION accepts it as printed on invoices, and both APIs return the same canonical spelling', async () => {
    expect(taken.length).toBeGreaterThanOrEqual(3);
    for (const details of taken) {
      const { account, warnings } = await register(live, type, details);
      const { accountInfo } = await registerInRest(live, accountType, type, details);
      const shown = await shownDetails(live, type, account.id);
      const { accountType: _type, beneficiary: _owner, ...inRest } = accountInfo;
      expect(warnings).toEqual([]);
      expect(present(shown)).toEqual(inRest);
      // The returned details are accepted as input and produce the same details again.
      const again = await register(live, type, inRest);
      expect(await shownDetails(live, type, again.account.id)).toEqual(shown);
      expect(await register(t.platform, type, details)).toMatchObject({ warnings: [] });
    }
  });

  test('PRODUCTION refuses wrong details over both APIs, naming the field and the character or check digit', async () => {
    expect(refused.length).toBeGreaterThanOrEqual(3);
    for (const details of refused) {
      const inGraphql = await register(live, type, details, true);
      expect(inGraphql).toMatchObject({ code: 'INVALID_BANK_ACCOUNT', message: expect.stringMatching(/value|BIC/) });
      const { code, details: facts } = await registerInRest(live, accountType, type, details);
      const message = facts.errors.map((error: Data) => error.message).join('; ');
      expect({ code, field: facts.field, message }).toEqual({
        code: 'INVALID_BANK_ACCOUNT',
        field: ['accountInfo', ...inGraphql.path.slice(3)].join('.'),
        message: inGraphql.message,
      });
    }
  });

  test('the sandbox accepts well-formed details, and both APIs warn of what PRODUCTION would refuse', async () => {
    for (const details of refused) {
      const made = await register(t.platform, type, details);
      const { warnings, code } = await registerInRest(t.platform, accountType, type, details);
      if (made.code === 'INVALID_BANK_ACCOUNT') {
        expect(code).toBe(made.code);
        continue;
      }
      expect(made.warnings.length).toBeGreaterThan(0);
      for (const [position, { path, code: reason, message }] of made.warnings.entries()) {
        expect({ path, reason }).toEqual({
          path: ['input', 'accountInfo', type.graphql.input, expect.any(String)],
          reason: 'INVALID_BANK_ACCOUNT',
        });
        expect(warnings[position]).toEqual({ field: `accountInfo.${path.at(-1)}`, message });
        const { message: refusedFor } = await register(live, type, details);
        expect(refusedFor).toContain(message.replace('PRODUCTION would refuse it: ', ''));
      }
    }
  });
});

test.each(longTexts(140))("a bank's name of $what", async ({ given, text }) => {
  const details = { sortCode: '20-00-00', accountNumber: '55779911', bankName: given };
  const made = await register(t.platform, accountTypes.GBP_ACCOUNT, details);
  expect(made.code).toBe(text === null ? 'INVALID_BANK_ACCOUNT' : undefined);
});

test('a letter in place of a digit is reported with its position and the digit that it resembles', async () => {
  const us = { accountNumber: '12O4', routingNumber: '021000021', accountCategory: 'CHECKING' };
  const pix = { pixKey: 'l2345678909', pixKeyType: 'CPF', taxId: '52998224725' };
  const fields = [
    ['US_ACCOUNT', us, /character 3 is the letter O; did you mean the digit 0\?/],
    ['IBAN', { iban: 'DE89 37O4 0044 0532 0130 00' }, /the digit 0 instead of the letter O at character 7\?/],
    ['PIX', pix, /character 1 is the letter l; did you mean the digit 1\?/],
    ['BASE_WALLET', { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeO' }, /character 42 is the letter O/],
  ] as const;
  for (const [accountType, details, message] of fields)
    expect((await register(live, accountTypes[accountType], details)).message).toMatch(message);
});

test('an IBAN needs no BIC in a SEPA country, but needs one in every other country', async () => {
  // Examples from the IBAN registry (ISO 13616). The first five countries joined SEPA in 2024 and 2025.
  const inside = [
    ...['AL47212110090000000235698741', 'MD24AG000225100013104168', 'ME25505000012345678951'],
    ...['MK07250120000058984', 'RS35260005601001611379', 'AD1200012030200359100100', 'VA59001123000012345678'],
  ];
  for (const iban of inside)
    expect(await register(live, accountTypes.IBAN, { iban })).toHaveProperty('account.id', expect.any(String));
  for (const iban of ['XK051212012345678906', 'BA391290079401028494', 'UA213223130000026007233566001'])
    expect((await register(live, accountTypes.IBAN, { iban })).path).toEqual([
      'input',
      'accountInfo',
      'iban',
      'swiftBic',
    ]);
});

const sepa = (fullName: string) => ({
  currency: 'EUR',
  accountInfo: { iban: { iban: 'DE89 3704 0044 0532 0130 00' } },
  beneficiary: { individual: { fullName } },
});
const ach = (legalName: string) => ({
  currency: 'USD',
  accountInfo: { usAccount: { accountNumber: '4455667788', routingNumber: '021000021', accountCategory: 'SAVINGS' } },
  beneficiary: { business: { legalName } },
});

test.each([
  ['SEPA', sepa('Grace O\u2019Hopper'), `SEPA sends this name as "Grace O'Hopper"`],
  ['SEPA', sepa('Łukasz Müller'), 'SEPA sends this name as "Lukasz Muller"'],
  ['SEPA', sepa('Чайковский'), 'SEPA sends this name as "Chaykovskiy"'],
  ['SEPA', sepa('Ana 👍 B'), 'SEPA sends this name as "Ana B", without "👍"'],
  ['ACH', ach('Tom & Jerry Engines Company'), 'ACH sends this name as "Tom & Jerry Engines Co", cut to 22 characters'],
])(
  "registering an account returns a warning if %s sends the owner's name in a different form",
  async (_rail, input, said) => {
    for (const as of [t.platform, live]) {
      const customerId = await as.newCustomer();
      const owned = { ...input, customerId };
      const { warnings } = await as.act('createExternalAccount', owned, 'warnings { path message }');
      const [kind = '', owner = {}] = Object.entries(input.beneficiary)[0] ?? [];
      const path = ['input', 'beneficiary', kind, Object.keys(owner)[0]];
      expect(warnings).toContainEqual({ path, message: said });
    }
  },
);

test('a name with no character that the rail can transmit is refused in PRODUCTION, and the sandbox warns of it', async () => {
  const customerId = await live.newCustomer();
  const message = 'SEPA supports no character of this name';
  expect(await live.act('createExternalAccount', { ...sepa('👍'), customerId })).toMatchObject({
    ...{ code: 'INVALID_INPUT', message, path: ['input', 'beneficiary', 'individual', 'fullName'] },
  });
  const { warnings } = await t.platform.act('createExternalAccount', sepa('👍'), 'warnings { message }');
  expect(warnings).toContainEqual({ message: `PRODUCTION would refuse it: ${message}` });
});

test('the rail gets both the original name and the form of the name that it can transmit', async () => {
  const asked: AccountToCheck[] = [];
  const names: (string | undefined)[] = [];
  const payments = withRail(t, {
    checkAccount: async (account, name) => {
      asked.push(account);
      names.push(name);
      return { accepted: true, status: 'ACTIVE', verification: 'MATCHED', verifiedName: name ?? null };
    },
  });
  const caller = { ...platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' }) };
  const details = { iban: 'DE89 3704 0044 0532 0130 00' };
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Zo\u0065\u0308 Müller' } as const;
  await createExternalAccount(payments, caller, {
    ...{ currency: 'EUR', accountType: 'IBAN', details, beneficiary, defaultUmaDepositAccount: false },
    customerId: await t.platform.newCustomer(),
  });
  expect(names).toEqual(['Zo\u00eb Müller']);
  expect(asked).toMatchObject([{ identifier: 'DE89370400440532013000', carriedName: 'Zoe Muller' }]);
});
