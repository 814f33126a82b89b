import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountTypes, identityOf } from '../../src/core/account-types.ts';
import { setAccountStatus, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { type GeneratedAccount, generatedAccount, respelled } from '../setup/generated-accounts.ts';

// Tests what identifies an external account (decision 37).

const gateway = await testGateway();
const { platform } = gateway;

const beneficiary = { individual: { fullName: 'Grace Hopper' } };
const evm = `0x${'aBcDeF0123'.repeat(4)}`;

const register = (customerId: string, currency: string, accountInfo: object, isOwned = true) => {
  const input = { customerId, currency, accountInfo, ...(isOwned && { beneficiary }) };
  return platform.act('createExternalAccount', input, 'account { id }');
};

interface Kind {
  readonly type: keyof typeof accountTypes;
  /** The details of an account. */
  readonly one: Readonly<Record<string, string>>;
  /** The fields that differ for accounts with the same number at other banks. */
  readonly elsewhere?: readonly Readonly<Record<string, string>>[];
  /** The fields that differ in other spellings of the account. */
  readonly same?: readonly Readonly<Record<string, string>>[];
  /** The fields that differ for accounts that are similar but not the same. */
  readonly other?: readonly Readonly<Record<string, string>>[];
}

const kinds: readonly Kind[] = [
  {
    type: 'US_ACCOUNT',
    one: { accountNumber: '000123456789', routingNumber: '021000021', accountCategory: 'CHECKING', bankName: 'One' },
    elsewhere: [{ routingNumber: '026009593' }],
    same: [{ accountCategory: 'SAVINGS' }, { bankName: 'Another' }],
    other: [{ accountNumber: '123456789' }],
  },
  {
    type: 'CLABE',
    one: { clabeNumber: '032180000118359719', bankName: 'One' },
    same: [{ bankName: 'Another' }],
    other: [{ clabeNumber: '002180000118359719' }],
  },
  {
    type: 'PIX',
    one: { pixKey: '52998224725', pixKeyType: 'CPF', taxId: '52998224725', bankName: 'One' },
    same: ['529.982.247-25', ' 529 982 247 25'].map((pixKey) => ({ pixKey })),
    other: [{ pixKey: '52998224726' }],
  },
  {
    type: 'PIX',
    one: { pixKey: '12.345.678/0001-95', pixKeyType: 'CNPJ', taxId: '52998224725' },
    same: [{ pixKey: '12345678000195' }, { taxId: '11122233396' }, { bankName: 'Another' }],
  },
  {
    type: 'PIX',
    one: { pixKey: 'grace.b@example.com', pixKeyType: 'EMAIL', taxId: '52998224725' },
    same: [{ pixKey: 'Grace.B@EXAMPLE.com' }],
    other: [{ pixKey: 'graceb@example.com' }],
  },
  {
    type: 'PIX',
    one: { pixKey: '123e4567e89b12d3a456426655440000', pixKeyType: 'RANDOM', taxId: '52998224725' },
    same: [{ pixKey: '123E4567-E89B-12D3-A456-426655440000' }],
  },
  {
    type: 'PIX',
    one: { pixKey: '+5511999998888', pixKeyType: 'PHONE', taxId: '52998224725' },
    same: ['+55 (11) 99999-8888', '+55 (0)11 99999-8888'].map((pixKey) => ({ pixKey })),
    other: [{ pixKey: '+5511999998889' }],
  },
  {
    type: 'IBAN',
    one: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' },
    same: [{ iban: 'de89 3704 0044 0532 0130 00' }, { swiftBic: 'DEUTDEFF' }, { bankName: 'A Bank' }],
    other: [{ iban: 'DE89370400440532013001' }],
  },
  { type: 'UPI', one: { vpa: 'grace@bank' }, same: [{ vpa: 'Grace@BANK' }], other: [{ vpa: 'grace@other' }] },
  {
    type: 'NGN_ACCOUNT',
    one: { accountNumber: '0123456789', bankName: 'First Bank', purposeOfPayment: 'GIFT' },
    elsewhere: [{ bankName: 'Second Bank' }],
    same: [{ bankName: ' first  BANK' }, { bankName: 'First-Bank' }, { purposeOfPayment: 'SELF' }],
  },
  {
    type: 'CAD_ACCOUNT',
    one: { bankCode: '001', branchCode: '00012', accountNumber: '1234567', bankName: 'One' },
    elsewhere: [{ bankCode: '002' }, { branchCode: '00013' }],
    same: [{ bankName: 'Another' }],
    other: [{ accountNumber: '01234567' }],
  },
  {
    type: 'GBP_ACCOUNT',
    one: { sortCode: '20-00-00', accountNumber: '12345678', bankName: 'One' },
    elsewhere: [{ sortCode: '20-00-01' }],
    same: [{ sortCode: '200000' }, { sortCode: '20 00 00', accountNumber: '1234 5678' }, { bankName: 'Another' }],
  },
  {
    type: 'PHP_ACCOUNT',
    one: { bankName: 'First Bank', accountNumber: '12-3456-7890' },
    elsewhere: [{ bankName: 'Second Bank' }],
    same: [{ bankName: 'FirstBank' }, { accountNumber: '1234567890' }],
  },
  {
    type: 'SGD_ACCOUNT',
    one: { bankName: 'First Bank', swiftCode: 'DBSSSGSG', accountNumber: '123-456789-a' },
    elsewhere: [{ swiftCode: 'UOVBSGSG' }, { swiftCode: 'DBSSSGSG001' }],
    same: [
      { swiftCode: 'DBSSSGSGXXX' },
      { swiftCode: 'dbssSGSG' },
      { bankName: 'Another' },
      { accountNumber: '123456789A' },
    ],
  },
  {
    type: 'LAYER2_WALLET',
    one: { address: `sp1${'q'.repeat(40)}` },
    same: [{ address: `SP1${'Q'.repeat(40)}` }],
    other: [{ address: `sp1${'Q'.repeat(40)}` }],
  },
  {
    type: 'LIGHTNING',
    one: { invoice: `lnbc${'q'.repeat(60)}` },
    same: [{ invoice: `LNBC${'Q'.repeat(60)}` }],
    other: [{ invoice: `lnbc${'q'.repeat(59)}p` }],
  },
  { type: 'LIGHTNING', one: { bolt12: `lno1${'q'.repeat(40)}` }, same: [{ bolt12: `LNO1${'Q'.repeat(40)}` }] },
  {
    type: 'LIGHTNING',
    one: { lightningAddress: 'grace@example.com' },
    same: [{ lightningAddress: 'GRACE@Example.com' }],
    other: [{ lightningAddress: 'grace@example.org' }],
  },
  { type: 'SOLANA_WALLET', one: { address: 'S'.repeat(44) }, other: [{ address: 's'.repeat(44) }] },
  { type: 'TRON_WALLET', one: { address: `T${'a'.repeat(33)}` }, other: [{ address: `T${'A'.repeat(33)}` }] },
  { type: 'POLYGON_WALLET', one: { address: evm }, same: [{ address: evm.toLowerCase() }] },
  // This is the same address as on Polygon, but on a different network.
  { type: 'BASE_WALLET', one: { address: evm }, same: [{ address: `0x${evm.slice(2).toUpperCase()}` }] },
];

test('every account type is covered, and so is each field that identifies its bank', () => {
  const tried = Object.keys(accountTypes).map((type) => [
    type,
    ...new Set(kinds.flatMap((kind) => (kind.type === type ? (kind.elsewhere ?? []).flatMap(Object.keys) : []))),
  ]);
  const declared = Object.entries(accountTypes).map(([type, rules]) => [type, ...(rules.bank ?? [])]);
  expect(tried).toEqual(declared);
  expect(new Set(kinds.map(({ type }) => type))).toEqual(new Set(Object.keys(accountTypes)));
});

describe.each(kinds)('$type $one', ({ type, one, elsewhere = [], same = [], other = [] }) => {
  const { graphql, currencies, beneficiary: isOwned } = accountTypes[type];
  const registerAs = (customerId: string, differs: object = {}) =>
    register(customerId, currencies[0], { [graphql.input]: { ...one, ...differs } }, isOwned);

  test('is the same account however it is spelled, and a different account at every other bank', async () => {
    const customerId = await platform.newCustomer('Grace Hopper');
    const { account } = await registerAs(customerId);
    const conflictWith = (id: string) => ({ code: 'CONFLICT', message: expect.stringContaining(id) });
    for (const differs of [{}, ...same]) {
      const refused = { differs, __typename: 'ConflictError', ...conflictWith(account.id) };
      expect({ differs, ...(await registerAs(customerId, differs)) }).toMatchObject(refused);
    }
    const known = [account.id];
    for (const differs of [...elsewhere, ...other]) {
      const made = await registerAs(customerId, differs);
      const another = { __typename: 'CreateExternalAccountSuccess', replayed: false };
      const id = expect.not.stringMatching(known.join('|'));
      expect({ differs, ...made }).toEqual({ differs, ...another, account: { id } });
      known.push(made.account.id);
      expect(await registerAs(customerId, differs)).toMatchObject(conflictWith(made.account.id));
    }
  });
});

test('the same wallet address in a different currency, or on a different chain, is a different account', async () => {
  const customerId = await platform.newCustomer('Grace Hopper');
  const solanaWallet = { address: 'S'.repeat(44) };
  for (const [currency, wallet] of [
    ['USDC', { solanaWallet }],
    ['USDT', { solanaWallet }],
    ['USDC', { baseWallet: { address: evm } }],
    ['USDC', { polygonWallet: { address: evm } }],
  ] as const)
    expect((await register(customerId, currency, wallet, false)).__typename).toBe('CreateExternalAccountSuccess');
});

test('reactivating an account conflicts with an identical account, but not with one at another bank', async () => {
  const customerId = await platform.newCustomer('Grace Hopper');
  const registerAt = (sortCode: string) =>
    register(customerId, 'GBP', { gbpAccount: { sortCode, accountNumber: '12345678' } });
  const { account } = await registerAt('20-00-00');
  await setAccountStatus(gateway, account.id, 'INACTIVE');
  await registerAt('20-00-01');
  await setAccountStatus(gateway, account.id, 'ACTIVE');
  await setAccountStatus(gateway, account.id, 'INACTIVE');
  await registerAt('200000');
  await expect(setAccountStatus(gateway, account.id, 'ACTIVE')).rejects.toThrow('account_external_identifier');
});

test('five hundred spellings of fifty accounts, registered concurrently, result in fifty accounts', async () => {
  const customerId = await platform.newCustomer('Grace Hopper');
  const accounts = distinctAccounts(50);
  const waiting = accounts.flatMap((account, number) =>
    fc.sample(respelled(account), { numRuns: 10, seed: number }).map((spelled) => ({ number, ...spelled })),
  );
  const made = new Map<number, string>();
  const refusals: { number: number; message: string }[] = [];
  const write = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { graphql, currencies, beneficiary: isOwned } = accountTypes[next.accountType];
      const answer = await register(customerId, currencies[0], { [graphql.input]: next.details }, isOwned);
      if (answer.code === undefined) made.set(next.number, answer.account.id);
      else refusals.push({ number: next.number, message: answer.message });
    }
  };
  await Promise.all(Array.from({ length: 20 }, write));
  expect(made.size).toBe(50);
  expect(new Set(made.values()).size).toBe(50);
  expect(refusals).toHaveLength(450);
  for (const { number, message } of refusals)
    expect(message).toBe(`this account already exists as ${made.get(number)}`);
});

test('a caller without VIEW learns that the account exists, but not which one it is', async () => {
  const accountInfo = { gbpAccount: { sortCode: '20-00-00', accountNumber: '55779911' } };
  const ask = (by: TestPlatform) =>
    by.act('createExternalAccount', { currency: 'GBP', accountInfo, beneficiary }, 'account { id }');
  const { account } = await ask(platform);
  expect(await ask(platform)).toMatchObject({ message: expect.stringContaining(account.id) });
  const refused = { code: 'CONFLICT', message: 'this account already exists' };
  expect(await ask(await platform.serverOf('MANAGE'))).toMatchObject(refused);
});

/** Generates this many different accounts. */
function distinctAccounts(count: number): GeneratedAccount[] {
  const found = new Map<string, GeneratedAccount>();
  for (const account of fc.sample(generatedAccount, { numRuns: 4 * count, seed: 42 })) {
    const { identifier, bank } = identityOf(account.accountType, account.details);
    found.set(`${account.accountType} ${bank} ${identifier}`, account);
  }
  // Skips suffixes that make the sandbox refuse an account or allow it to be registered again.
  return [...found.values()]
    .filter(({ details }) => !/(?:105|20[1-4])(?:@|$)/.test(Object.values(details).join('\n')))
    .slice(0, count);
}
