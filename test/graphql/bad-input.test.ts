import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { internalAccount, makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let scene: Scene;
/** The same of another platform on this gateway: all of it must look unknown. */
let foreign: Scene;
let platformUsd: string;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
  scene = await makeScene(t.platform, 10_000n);
  foreign = await makeScene(await t.newPlatform('foreign'), 10_000n);
  const { accounts } = await t.platform.ask(
    '{ accounts(filter: { platformOwned: true, currency: "USD" }) { edges { node { id } } } }',
  );
  platformUsd = accounts.edges[0].node.id;
});
afterAll(() => t.stop());

const unknown = '00000000-0000-7000-8000-000000000000';

/** Runs a mutation with an input and answers its result. */
async function run(platform: TestPlatform, mutation: string, input: object): Promise<Data> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`;
  const data = await platform.ask(
    `mutation ($input: ${type}Input!) { ${mutation}(input: $input) {
      __typename ... on ${type}Success { replayed } ... on UserError { code message path } } }`,
    { input },
  );
  return data[mutation];
}

/** How many rows each table has, and the versions of those that change: what a refusal must leave as it was. */
async function everything(gateway: TestGateway): Promise<object> {
  const { rows } = await gateway.gateway.payments.database.pool.query(
    `select (select count(*) from customer) as customers, (select count(*) from idempotency_record) as receipts,
       (select count(*) from account) as accounts, (select sum(version) from account) as account_versions,
       (select count(*) from quote) as quotes, (select sum(version) from quote) as quote_versions,
       (select count(*) from transaction) as transactions, (select sum(version) from transaction) as transaction_versions,
       (select count(*) from journal) as journals, (select count(*) from posting) as postings,
       (select count(*) from hold) as holds, (select count(*) from rail_order) as orders,
       (select count(*) from event) + (select count(*) from outbox) as events`,
  );
  return rows[0];
}

const transfer = (changes: object = {}) => ({
  sourceAccountId: scene.usd,
  destinationAccountId: scene.outsideUsd,
  amount: 100,
  ...changes,
});
const pull = (changes: object = {}) => ({
  sourceAccountId: scene.outsideUsd,
  destinationAccountId: scene.usd,
  ...changes,
});
const quote = (changes: object = {}) => ({
  source: { account: { accountId: scene.usd } },
  destination: { account: { accountId: scene.outsideEur } },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 1_000,
  ...changes,
});
const from = (accountId: string) => ({ source: { account: { accountId } } });
const to = (accountId: string) => ({ destination: { account: { accountId } } });
const uuidOf = (id: string) => id.slice(id.indexOf(':') + 1);
const sourcePath = ['source', 'account', 'accountId'];
const destinationPath = ['destination', 'account', 'accountId'];

type Case = readonly [what: string, mutation: string, input: () => object, code: string, path: readonly string[]];

const over = '9000000000000001';
const amounts: Case[] = [
  ['0', 'INVALID_AMOUNT'],
  ['-1', 'INVALID_AMOUNT'],
  [over, 'AMOUNT_OUT_OF_RANGE'],
  ['9223372036854775807', 'AMOUNT_OUT_OF_RANGE'],
].flatMap(([amount, code = '']): Case[] => [
  [`amount ${amount}`, 'transferOut', () => transfer({ amount }), code, ['amount']],
  [`amount ${amount}`, 'transferIn', () => pull({ amount }), code, ['amount']],
  [`amount ${amount}`, 'sandboxFundAccount', () => ({ accountId: scene.usd, amount }), code, ['amount']],
  ...['SENDING', 'RECEIVING'].map(
    (lockedCurrencySide): Case => [
      `${lockedCurrencySide} amount ${amount}`,
      'createQuote',
      () => quote({ lockedCurrencySide, lockedCurrencyAmount: amount }),
      code,
      ['lockedCurrencyAmount'],
    ],
  ),
]);

const ids: Case[] = (
  [
    ['unknown', (type: string) => `${type}:${unknown}`],
    ['foreign', (type: string) => (type === 'InternalAccount' ? foreign.usd : foreign.outsideUsd)],
    ['malformed', () => 'nonsense'],
    ['empty', () => ''],
    ['without its type', (type: string) => uuidOf(type === 'InternalAccount' ? scene.usd : scene.outsideUsd)],
    [
      'with another type',
      (type: string) => `Quote:${uuidOf(type === 'InternalAccount' ? scene.usd : scene.outsideUsd)}`,
    ],
    ['in capitals', (type: string) => (type === 'InternalAccount' ? scene.usd : scene.outsideUsd).toUpperCase()],
    ['with a control character', (type: string) => `${type}:\u0000`],
  ] as const
).flatMap(([what, id]): Case[] => {
  const code = 'ACCOUNT_NOT_FOUND';
  const inside = () => id('InternalAccount');
  const outside = () => id('ExternalAccount');
  return [
    [`source ${what}`, 'transferOut', () => transfer({ sourceAccountId: inside() }), code, ['sourceAccountId']],
    [
      `destination ${what}`,
      'transferOut',
      () => transfer({ destinationAccountId: outside() }),
      code,
      ['destinationAccountId'],
    ],
    [`source ${what}`, 'transferIn', () => pull({ sourceAccountId: outside() }), code, ['sourceAccountId']],
    [
      `destination ${what}`,
      'transferIn',
      () => pull({ destinationAccountId: inside() }),
      code,
      ['destinationAccountId'],
    ],
    [`source ${what}`, 'createQuote', () => quote(from(inside())), code, sourcePath],
    [`destination ${what}`, 'createQuote', () => quote(to(outside())), code, destinationPath],
    [`account ${what}`, 'sandboxFundAccount', () => ({ accountId: inside(), amount: 1 }), code, ['accountId']],
    [`quote ${what}`, 'executeQuote', () => ({ quoteId: outside() }), 'QUOTE_NOT_FOUND', ['quoteId']],
    [
      `quote ${what}`,
      'sandboxSend',
      () => ({ quoteId: outside(), currencyCode: 'USD' }),
      'QUOTE_NOT_FOUND',
      ['quoteId'],
    ],
  ];
});

const funded = (changes: object) =>
  quote({ source: { realtimeFunding: { customerId: scene.customerId, currency: 'USDC', ...changes } } });
const individual = (fullName: string) => ({ individual: { fullName } });
const external = (changes: object) => ({
  customerId: scene.customerId,
  currency: 'USD',
  accountInfo: { usAccount: { accountNumber: '7700000', routingNumber: '021000021', accountCategory: 'CHECKING' } },
  beneficiary: individual('Grace Hopper'),
  ...changes,
});

const others: Case[] = [
  [
    'another currency',
    'transferOut',
    () => transfer({ destinationAccountId: scene.outsideEur }),
    'INVALID_CURRENCY',
    ['destinationAccountId'],
  ],
  [
    'another currency',
    'transferIn',
    () => pull({ destinationAccountId: scene.eur }),
    'INVALID_CURRENCY',
    ['destinationAccountId'],
  ],
  [
    'a source outside',
    'transferOut',
    () => transfer({ sourceAccountId: scene.outsideUsd }),
    'INVALID_INPUT',
    ['sourceAccountId'],
  ],
  [
    'a destination here',
    'transferOut',
    () => transfer({ destinationAccountId: platformUsd }),
    'INVALID_INPUT',
    ['destinationAccountId'],
  ],
  ['a source here', 'transferIn', () => pull({ sourceAccountId: platformUsd }), 'INVALID_INPUT', ['sourceAccountId']],
  ['a source outside', 'createQuote', () => quote(from(scene.outsideUsd)), 'INVALID_INPUT', sourcePath],
  ['a source that is the destination', 'createQuote', () => quote(to(scene.usd)), 'SELF_PAYMENT', destinationPath],
  [
    'an unknown funding currency',
    'createQuote',
    () => funded({ currency: 'XYZ' }),
    'INVALID_CURRENCY',
    ['source', 'realtimeFunding', 'currency'],
  ],
  [
    'an unknown funding customer',
    'createQuote',
    () => funded({ customerId: foreign.customerId }),
    'USER_NOT_FOUND',
    ['source', 'realtimeFunding', 'customerId'],
  ],
  [
    'a source without the money',
    'transferOut',
    () => transfer({ amount: 10_001 }),
    'INSUFFICIENT_BALANCE',
    ['sourceAccountId'],
  ],
  [
    'a source without the money',
    'createQuote',
    () => quote({ immediatelyExecute: true, lockedCurrencyAmount: 10_001 }),
    'INSUFFICIENT_BALANCE',
    ['source'],
  ],
  [
    'an amount that nothing is left of',
    'createQuote',
    () => quote({ lockedCurrencyAmount: 1 }),
    'AMOUNT_OUT_OF_RANGE',
    ['lockedCurrencyAmount'],
  ],
  ['a control character', 'transferOut', () => transfer({ description: 'a\u0007b' }), 'INVALID_INPUT', ['description']],
  [
    'half a surrogate pair',
    'transferOut',
    () => transfer({ description: 'a\ud800b' }),
    'INVALID_INPUT',
    ['description'],
  ],
  ['a control character', 'createQuote', () => quote({ description: 'a\u0000b' }), 'INVALID_INPUT', ['description']],
  ['too long a memo', 'createQuote', () => quote({ description: 'x'.repeat(501) }), 'INVALID_INPUT', ['description']],
  [
    'a control character',
    'createCustomer',
    () => ({ platformCustomerId: 'a\nb', details: individual('Grace') }),
    'INVALID_INPUT',
    ['platformCustomerId'],
  ],
  [
    'half a surrogate pair',
    'createCustomer',
    () => ({ platformCustomerId: 'a\udc00', details: individual('Grace') }),
    'INVALID_INPUT',
    ['platformCustomerId'],
  ],
  [
    'a control character',
    'createCustomer',
    () => ({ platformCustomerId: 'ab', details: individual('Grace\u0000') }),
    'INVALID_INPUT',
    ['details', 'individual', 'fullName'],
  ],
  [
    'a control character',
    'createCustomer',
    () => ({ platformCustomerId: 'ab', umaAddress: '$a\u0000@b.c', details: individual('Grace') }),
    'INVALID_UMA_ADDRESS',
    ['umaAddress'],
  ],
  [
    'a blank id',
    'createCustomer',
    () => ({ platformCustomerId: ' ', details: individual('Grace') }),
    'INVALID_INPUT',
    ['platformCustomerId'],
  ],
  [
    'a control character',
    'createExternalAccount',
    () => external({ platformAccountId: '\u007f' }),
    'INVALID_INPUT',
    ['platformAccountId'],
  ],
  [
    'an unknown currency',
    'createExternalAccount',
    () => external({ currency: 'XYZ\u0000' }),
    'INVALID_CURRENCY',
    ['currency'],
  ],
  [
    'a currency that does not match',
    'createExternalAccount',
    () => external({ currency: 'EUR' }),
    'INVALID_CURRENCY',
    ['currency'],
  ],
  [
    'a foreign customer',
    'createExternalAccount',
    () => external({ customerId: foreign.customerId }),
    'USER_NOT_FOUND',
    ['customerId'],
  ],
  [
    'a malformed customer',
    'createExternalAccount',
    () => external({ customerId: 'Customer:1' }),
    'USER_NOT_FOUND',
    ['customerId'],
  ],
  ['no owner', 'createExternalAccount', () => external({ beneficiary: null }), 'INVALID_INPUT', ['beneficiary']],
  [
    'an account outside',
    'sandboxFundAccount',
    () => ({ accountId: scene.outsideUsd, amount: 1 }),
    'INVALID_INPUT',
    ['accountId'],
  ],
  ...['', ' ', 'with space', 'a\u0000', 'é', 'x'.repeat(256)].flatMap((idempotencyKey): Case[] => [
    [
      `the key ${JSON.stringify(idempotencyKey).slice(0, 20)}`,
      'transferOut',
      () => transfer({ idempotencyKey }),
      'INVALID_INPUT',
      ['idempotencyKey'],
    ],
    [
      `the key ${JSON.stringify(idempotencyKey).slice(0, 20)}`,
      'executeQuote',
      () => ({ quoteId: `Quote:${unknown}`, idempotencyKey }),
      'INVALID_INPUT',
      ['idempotencyKey'],
    ],
  ]),
];

describe('a mutation refuses with code, path and reason, and changes nothing', () => {
  let before: object;
  beforeEach(async () => {
    before = await everything(t);
  });

  test.each([...amounts, ...ids, ...others])('%s in %s', async (_what, mutation, input, code, path) => {
    const result = await run(t.platform, mutation, input());
    expect(result).toEqual({
      __typename: expect.stringMatching(/Error$/),
      code,
      message: expect.stringMatching(/\w{2,} \w{2,}/),
      path: ['input', ...path],
    });
    expect(await everything(t)).toEqual(before);
  });

  test.each([
    ['1.5', 'a fraction'],
    ['"1.5"', 'a fraction'],
    ['1e3', 'an exponent'],
    ['"01"', 'a leading zero'],
    ['"abc"', 'letters'],
    ['true', 'a boolean'],
    ['[1]', 'a list'],
    ['"9223372036854775808"', 'more than 64 bits'],
    ['null', 'nothing'],
  ])('an amount of %s is no amount, as a variable or in the document', async (amount) => {
    const select = '{ ... on UserError { code } }';
    const input = `sourceAccountId: "${scene.usd}", destinationAccountId: "${scene.outsideUsd}"`;
    const [asVariable, inDocument] = [
      await t.platform.send(
        `mutation ($amount: BigInt!) { transferOut(input: { ${input}, amount: $amount }) ${select} }`,
        { amount: JSON.parse(amount) },
      ),
      await t.platform.send(`mutation { transferOut(input: { ${input}, amount: ${amount} }) ${select} }`),
    ];
    // 1e3 is the integer 1000 once JSON is read: only the document can tell.
    if (amount !== '1e3') expect(asVariable.errors?.[0]?.message).toMatch(/\$amount/);
    expect(inDocument.errors?.[0]?.message).toMatch(/BigInt/);
    for (const { data } of [...(amount === '1e3' ? [] : [asVariable]), inDocument]) expect(data).toBeUndefined();
    if (amount !== '1e3') expect(await everything(t)).toEqual(before);
  });
});
