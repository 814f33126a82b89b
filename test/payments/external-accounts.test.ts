import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { act } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

let t: TestGateway;
let platform: TestPlatform;
let customerId: string;
beforeAll(async () => {
  t = await startTestGateway();
  platform = t.platform;
  customerId = (await makeScene(platform)).customerId;
});
afterAll(() => t.stop());

const beneficiary = { individual: { fullName: 'Grace Hopper', birthDate: '1990-12-09', nationality: 'US' } };

/** Registers an account for the customer and answers the result's member. */
async function register(input: object, as: TestPlatform = platform): Promise<Data> {
  return act(
    as,
    'createExternalAccount',
    input,
    `account { id status currency { code } customer { id } platformAccountId defaultUmaDepositAccount
      accountInfo { __typename ... on UsAccountInfo { accountType accountNumber } }
      beneficiary { __typename ... on IndividualBeneficiary { fullName birthDate } ... on BusinessBeneficiary { legalName taxId } }
      beneficiaryVerificationStatus beneficiaryVerifiedData { fullName } }`,
  );
}

const address = (letter: string, length: number) => letter.repeat(length);
const invoice = `lnbc${address('q', 60)}`;

/** Each kind: its currency, GraphQL type, a right form, and for each field a wrong one. */
const kinds = [
  {
    kind: 'usAccount',
    type: 'UsAccountInfo',
    currency: 'USD',
    right: { accountNumber: '12345678', routingNumber: '021000021', accountCategory: 'SAVINGS', bankName: 'A Bank' },
    wrong: { accountNumber: '123', routingNumber: '12345678' },
  },
  {
    kind: 'clabe',
    type: 'ClabeAccountInfo',
    currency: 'MXN',
    right: { clabeNumber: '032180000118359719' },
    wrong: { clabeNumber: '03218000011835971' },
  },
  {
    kind: 'pix',
    type: 'PixAccountInfo',
    currency: 'BRL',
    right: { pixKey: '12345678909', pixKeyType: 'CPF', taxId: '12345678909' },
    wrong: { pixKey: 'not-a-cpf', taxId: '' },
  },
  {
    kind: 'iban',
    type: 'IbanAccountInfo',
    currency: 'EUR',
    right: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' },
    wrong: { iban: 'DE8937', swiftBic: 'COBA' },
  },
  { kind: 'upi', type: 'UpiAccountInfo', currency: 'INR', right: { vpa: 'grace@bank' }, wrong: { vpa: 'grace' } },
  {
    kind: 'ngnAccount',
    type: 'NgnAccountInfo',
    currency: 'NGN',
    right: { accountNumber: '0123456789', bankName: 'A Bank', purposeOfPayment: 'GIFT' },
    wrong: { accountNumber: '123456789', bankName: '' },
  },
  {
    kind: 'cadAccount',
    type: 'CadAccountInfo',
    currency: 'CAD',
    right: { bankCode: '001', branchCode: '00012', accountNumber: '1234567' },
    wrong: { bankCode: '1', branchCode: '123456', accountNumber: '123456' },
  },
  {
    kind: 'gbpAccount',
    type: 'GbpAccountInfo',
    currency: 'GBP',
    right: { sortCode: '20-00-00', accountNumber: '12345678' },
    wrong: { sortCode: '20000', accountNumber: '1234567' },
  },
  {
    kind: 'phpAccount',
    type: 'PhpAccountInfo',
    currency: 'PHP',
    right: { bankName: 'A Bank', accountNumber: '1234567890' },
    wrong: { bankName: '', accountNumber: '12 34' },
  },
  {
    kind: 'sgdAccount',
    type: 'SgdAccountInfo',
    currency: 'SGD',
    right: { bankName: 'A Bank', swiftCode: 'DBSSSGSG', accountNumber: '1234567890' },
    wrong: { bankName: '', swiftCode: 'dbss', accountNumber: '12 34' },
  },
  {
    kind: 'layer2Wallet',
    type: 'Layer2WalletInfo',
    currency: 'BTC',
    right: { address: address('q', 40) },
    wrong: { address: 'short' },
    wallet: true,
  },
  {
    kind: 'lightning',
    type: 'LightningInfo',
    currency: 'BTC',
    right: { invoice },
    wrong: { invoice: 'lightning:1', bolt12: 'lnx', lightningAddress: 'grace' },
    wallet: true,
  },
  {
    kind: 'solanaWallet',
    type: 'SolanaWalletInfo',
    currency: 'USDC',
    right: { address: address('S', 44) },
    wrong: { address: address('S', 45) },
    wallet: true,
  },
  {
    kind: 'tronWallet',
    type: 'TronWalletInfo',
    currency: 'USDT',
    right: { address: `T${address('a', 33)}` },
    wrong: { address: address('a', 34) },
    wallet: true,
  },
  {
    kind: 'polygonWallet',
    type: 'PolygonWalletInfo',
    currency: 'USDC',
    right: { address: `0x${address('a', 40)}` },
    wrong: { address: address('a', 42) },
    wallet: true,
  },
  {
    kind: 'baseWallet',
    type: 'BaseWalletInfo',
    currency: 'USDC',
    right: { address: `0x${address('b', 40)}` },
    wrong: { address: `0x${address('b', 39)}` },
    wallet: true,
  },
];

describe.each(kinds)('$kind', ({ kind, type, currency, right, wrong, wallet }) => {
  const owner = wallet ? {} : { beneficiary };

  test('is accepted in its form and is ACTIVE at once in the sandbox', async () => {
    const { account } = await register({ customerId, currency, accountInfo: { [kind]: right }, ...owner });
    expect(account).toMatchObject({
      status: 'ACTIVE',
      currency: { code: currency },
      customer: { id: customerId },
      accountInfo: { __typename: type },
      beneficiary: wallet ? null : { fullName: 'Grace Hopper', birthDate: '1990-12-09' },
      beneficiaryVerificationStatus: wallet ? null : 'MATCHED',
      beneficiaryVerifiedData: wallet ? null : { fullName: 'Grace Hopper' },
    });
  });

  test('is refused in another form, naming the field', async () => {
    for (const [field, value] of Object.entries(wrong)) {
      const details = kind === 'lightning' ? { [field]: value } : { ...right, [field]: value };
      expect(await register({ customerId, currency, accountInfo: { [kind]: details }, ...owner })).toMatchObject({
        __typename: 'InvalidInputError',
        code: 'INVALID_BANK_ACCOUNT',
        path: ['input', 'accountInfo', kind, field],
      });
    }
  });

  test('is refused in a currency that is not its own', async () => {
    expect(await register({ customerId, currency: 'JPY', accountInfo: { [kind]: right }, ...owner })).toMatchObject({
      code: 'INVALID_CURRENCY',
      path: ['input', 'currency'],
    });
  });

  test(wallet ? 'has no beneficiary' : 'needs its beneficiary', async () => {
    const other = wallet ? { beneficiary } : {};
    expect(await register({ customerId, currency, accountInfo: { [kind]: right }, ...other })).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});

describe('the forms that a screen is made of', () => {
  test('say of each type what it takes: its right fields fit, and its wrong ones do not', async () => {
    const { externalAccountForms } = await platform.ask(`{ externalAccountForms { ${formFields} } }`);
    expect(externalAccountForms.map(({ inputField }: Data) => inputField).sort()).toEqual(
      [...new Set(kinds.map(({ kind }) => kind))].sort(),
    );
    for (const { kind, currency, right, wrong, wallet } of kinds) {
      const form = externalAccountForms.find(({ inputField }: Data) => inputField === kind);
      expect(form.currencies.map(({ code }: Data) => code)).toContain(currency);
      expect(form.isBeneficiaryRequired).toBe(!wallet);
      expect(faultsIn(form, right)).toEqual([]);
      for (const [name, value] of Object.entries(wrong)) {
        const details = form.exactlyOneOf.includes(name) ? { [name]: value } : { ...right, [name]: value };
        expect(faultsIn(form, details)).toEqual([name]);
      }
    }
  });

  test('are those of one currency when it is given; an unknown one is refused', async () => {
    const types = async (currency: string) =>
      (
        await platform.ask('query ($currency: String) { externalAccountForms(currency: $currency) { accountType } }', {
          currency,
        })
      ).externalAccountForms.map(({ accountType }: Data) => accountType);
    expect(await types('USDC')).toEqual(['SOLANA_WALLET', 'POLYGON_WALLET', 'BASE_WALLET']);
    expect(await types('JPY')).toEqual([]);
    const { errors } = await platform.send('{ externalAccountForms(currency: "XXX") { accountType } }');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_CURRENCY', field: 'currency' });
  });
});

const formFields = `accountType inputField isBeneficiaryRequired exactlyOneOf currencies { code }
  fields { name isRequired allowedValues pattern format formatDependsOn formatsByValue { value pattern format } }`;

/** The fields that a screen with nothing but the form would not send. */
function faultsIn({ fields, exactlyOneOf }: Data, details: Readonly<Record<string, string | undefined>>): string[] {
  if (exactlyOneOf.length > 0 && exactlyOneOf.filter((name: string) => name in details).length !== 1)
    return exactlyOneOf;
  return fields.flatMap((field: Data) => {
    const value = details[field.name];
    if (value === undefined) return field.isRequired ? [field.name] : [];
    const byValue = field.formatsByValue.find((one: Data) => one.value === details[field.formatDependsOn]);
    const fits =
      (field.allowedValues?.includes(value) ?? true) &&
      [field.pattern, byValue?.pattern].every((pattern) => !pattern || new RegExp(pattern, 'u').test(value));
    return fits ? [] : [field.name];
  });
}

const usAccount = (accountNumber: string) => ({
  usAccount: { accountNumber, routingNumber: '021000021', accountCategory: 'CHECKING' },
});

test('a Lightning destination is exactly one of invoice, offer and address', async () => {
  for (const lightning of [{}, { invoice, lightningAddress: 'grace@example.com' }]) {
    expect(await register({ customerId, currency: 'BTC', accountInfo: { lightning } })).toMatchObject({
      code: 'INVALID_BANK_ACCOUNT',
      path: ['input', 'accountInfo', 'lightning'],
    });
  }
});

test.each([
  ['CNPJ', '12345678000195', '123'],
  ['EMAIL', 'grace@example.com', 'grace'],
  ['PHONE', '+5511999998888', '11999998888'],
  ['RANDOM', '123e4567e89b12d3a456426655440000', 'random'],
])('a Pix key of type %s has its own form', async (pixKeyType, right, wrong) => {
  const pix = (pixKey: string) => ({ pix: { pixKey, pixKeyType, taxId: '12345678909' } });
  const input = { customerId, currency: 'BRL', beneficiary };
  expect(await register({ ...input, accountInfo: pix(wrong) })).toMatchObject({
    code: 'INVALID_BANK_ACCOUNT',
    path: ['input', 'accountInfo', 'pix', 'pixKey'],
  });
  expect(await register({ ...input, accountInfo: pix(right) })).toMatchObject({ account: { status: 'ACTIVE' } });
});

test('a company can own an account', async () => {
  const { account } = await register({
    customerId,
    currency: 'USD',
    accountInfo: usAccount('7770001'),
    beneficiary: { business: { legalName: 'Engines Ltd', taxId: 'T-1' } },
  });
  expect(account).toMatchObject({
    beneficiary: { __typename: 'BusinessBeneficiary', legalName: 'Engines Ltd', taxId: 'T-1' },
    beneficiaryVerifiedData: { fullName: 'Engines Ltd' },
  });
});

test.each([
  ['102', 'NOT_MATCHED', null],
  ['103', 'PARTIAL_MATCH', 'G. Hopper'],
  ['104', 'PENDING', null],
  ['106', 'UNSUPPORTED', null],
  ['107', 'CHECKED_BY_RECEIVING_FI', null],
  ['000', 'MATCHED', 'Grace Hopper'],
])('an account number ending in %s is verified as %s', async (suffix, status, fullName) => {
  const { account } = await register({
    customerId,
    currency: 'USD',
    accountInfo: usAccount(`88800${suffix}`),
    beneficiary,
  });
  expect(account).toMatchObject({
    status: 'ACTIVE',
    beneficiaryVerificationStatus: status,
    beneficiaryVerifiedData: { fullName },
  });
});

test('a UPI address carries the trigger before its @', async () => {
  const input = { customerId, currency: 'INR', beneficiary, accountInfo: { upi: { vpa: 'grace.102@bank' } } };
  expect(await register(input)).toMatchObject({ account: { beneficiaryVerificationStatus: 'NOT_MATCHED' } });
});

test('an account number ending in 105 is refused', async () => {
  expect(
    await register({ customerId, currency: 'USD', accountInfo: usAccount('88800105'), beneficiary }),
  ).toMatchObject({
    __typename: 'InvalidInputError',
    code: 'INVALID_BANK_ACCOUNT',
    path: ['input', 'accountInfo', 'usAccount'],
  });
});

describe('the default account for incoming UMA payments', () => {
  const defaults = async (owner: string): Promise<string[]> => {
    const { accounts } = await platform.ask(
      `query ($id: ID!) { accounts(filter: { kind: EXTERNAL, customerId: $id }, first: 100) { edges { node { id ... on ExternalAccount { defaultUmaDepositAccount } } } } }`,
      { id: owner },
    );
    return accounts.edges.filter((edge: Data) => edge.node.defaultUmaDepositAccount).map((edge: Data) => edge.node.id);
  };

  test('is replaced by the next default, and stays beside an ordinary account', async () => {
    const scene = await makeScene(platform, 0n);
    const add = async (accountNumber: string, defaultUmaDepositAccount: boolean) =>
      (
        await register({
          customerId: scene.customerId,
          currency: 'USD',
          accountInfo: usAccount(accountNumber),
          beneficiary,
          defaultUmaDepositAccount,
        })
      ).account.id;
    const first = await add('9990001', true);
    expect(await defaults(scene.customerId)).toEqual([first]);
    const second = await add('9990002', true);
    expect(await defaults(scene.customerId)).toEqual([second]);
    await add('9990003', false);
    expect(await defaults(scene.customerId)).toEqual([second]);
  });

  test('is one even when many are made at once', async () => {
    const scene = await makeScene(platform, 0n);
    await Promise.all(
      ['01', '02', '03', '04', '05', '06'].map((end) =>
        register({
          customerId: scene.customerId,
          currency: 'USD',
          accountInfo: usAccount(`99910${end}`),
          beneficiary,
          defaultUmaDepositAccount: true,
        }),
      ),
    );
    expect(await defaults(scene.customerId)).toHaveLength(1);
  });

  test('is never the platform’s own', async () => {
    expect(
      await register({
        currency: 'USD',
        accountInfo: usAccount('9990009'),
        beneficiary,
        defaultUmaDepositAccount: true,
      }),
    ).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'defaultUmaDepositAccount'] });
  });
});

test('a platform has accounts of its own, and other owners may register the same account', async () => {
  const accountInfo = usAccount('6660001');
  const own = await register({ currency: 'USD', accountInfo, beneficiary, platformAccountId: 'treasury' });
  expect(own.account).toMatchObject({ customer: null, platformAccountId: 'treasury' });
  expect(await register({ currency: 'USD', accountInfo, beneficiary })).toMatchObject({ code: 'CONFLICT' });
  expect(await register({ customerId, currency: 'USD', accountInfo, beneficiary })).toMatchObject({
    __typename: 'CreateExternalAccountSuccess',
  });
  const { accounts } = await platform.ask(
    '{ accounts(filter: { kind: EXTERNAL, platformOwned: true }) { edges { node { id } } } }',
  );
  expect(accounts.edges).toEqual([{ node: { id: own.account.id } }]);
  const stranger = await t.newPlatform('stranger');
  expect(await register({ currency: 'USD', accountInfo, beneficiary }, stranger)).toMatchObject({
    __typename: 'CreateExternalAccountSuccess',
  });
});

test('the same account registered by many at once exists once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      register({ customerId, currency: 'USD', accountInfo: usAccount('5550001'), beneficiary }),
    ),
  );
  expect(answers.map((answer) => answer.code ?? 'done').sort()).toEqual([...Array(5).fill('CONFLICT'), 'done']);
});
