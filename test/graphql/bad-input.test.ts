import { expect, test } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { act } from '../setup/acts.ts';
import { uuidIn } from '../setup/connections.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { makeScene, ownAccount } from '../setup/scene.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await makeScene(t.platform, 10_000n);
/** The same scene on another platform of this gateway: everything in it must look unknown. */
const foreign = await makeScene(await t.newPlatform('foreign'), 10_000n);
const platformUsd = await ownAccount(t.platform, 'USD');

const run = (mutation: Operation, input: object, success = ''): Promise<Data> =>
  act(t.platform, mutation, input, success);

/** Returns the number of rows of each table, and the versions of mutable ones: a refusal must change neither. */
async function everything(): Promise<Data> {
  const { rows } = await t.gateway.payments.database.pool.query(
    `select (select count(*) from customer) as customers, (select count(*) from idempotency_record) as receipts,
       (select count(*) from account) as accounts, (select sum(version) from account) as account_versions,
       (select count(*) from quote) as quotes, (select sum(version) from quote) as quote_versions,
       (select count(*) from transaction) as transactions, (select sum(version) from transaction) as transaction_versions,
       (select count(*) from journal) as journals, (select count(*) from posting) as postings,
       (select count(*) from rail_order) as orders,
       (select count(*) from event) + (select count(*) from outbox) as events`,
  );
  return rows[0];
}

/** Valid inputs; each case spoils one. */
const sound = {
  transferOut: () => ({ sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 }),
  transferIn: () => ({ sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd }),
  createQuote: () => ({
    ...from(scene.usd),
    ...to(scene.outsideEur),
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1_000,
  }),
  executeQuote: () => ({ quoteId: `Quote:${unknown}` }),
  sandboxSend: () => ({ quoteId: `Quote:${unknown}`, currency: 'USD' }),
  sandboxFundAccount: () => ({ accountId: scene.usd, amount: 100 }),
  createCustomer: () => ({ platformCustomerId: 'spoilt', details: { individual: { fullName: 'Grace Hopper' } } }),
  createExternalAccount: () => ({
    customerId: scene.customerId,
    currency: 'USD',
    accountInfo: { usAccount: us },
    beneficiary: { individual: { fullName: 'Grace Hopper' } },
  }),
};
type Mutation = keyof typeof sound;

const unknown = '00000000-0000-7000-8000-000000000000';
const us = { accountNumber: '7700000', routingNumber: '021000021', accountCategory: 'CHECKING' };
const from = (accountId: string) => ({ source: { account: { accountId } } });
const to = (accountId: string) => ({ destination: { account: { accountId } } });
const funding = (changes: object) => ({
  source: { realtimeFunding: { customerId: scene.customerId, currency: 'USDC', ...changes } },
});
const owner = (changes: object) => ({
  details: {
    business: {
      legalName: 'Analytical Engines',
      beneficialOwners: [{ fullName: 'Ada Lovelace', individualType: 'DIRECTOR', ...changes }],
    },
  },
});

/** What is wrong, in which mutation, the changes to its valid input, the refusal's code, and its path. */
type Case = readonly [what: string, mutation: Mutation, changes: () => object, code: string, path: string];

const amounts = (
  [
    ['0', 'INVALID_AMOUNT'],
    ['-1', 'INVALID_AMOUNT'],
    ['9000000000000001', 'AMOUNT_OUT_OF_RANGE'],
    ['9223372036854775807', 'AMOUNT_OUT_OF_RANGE'],
  ] as const
).flatMap(([amount, code]): Case[] => [
  ...(['transferOut', 'transferIn', 'sandboxFundAccount'] as const).map(
    (mutation): Case => [`amount ${amount}`, mutation, () => ({ amount }), code, 'amount.units'],
  ),
  ...['SENDING', 'RECEIVING'].map((lockedCurrencySide): Case => {
    const changes = { lockedCurrencySide, lockedCurrencyAmount: amount };
    return [`${lockedCurrencySide} ${amount}`, 'createQuote', () => changes, code, 'lockedCurrencyAmount.units'];
  }),
]);

const accounts = {
  InternalAccount: { own: () => scene.usd, foreign: () => foreign.usd },
  ExternalAccount: { own: () => scene.outsideUsd, foreign: () => foreign.outsideUsd },
};

const ids = (
  [
    ['unknown', (type) => `${type}:${unknown}`],
    ['foreign', (type) => accounts[type].foreign()],
    ['malformed', () => 'nonsense'],
    ['empty', () => ''],
    ['bare', (type) => uuidIn(accounts[type].own())],
    [
      'of the other kind',
      (type) => `${type === 'InternalAccount' ? 'ExternalAccount' : 'InternalAccount'}:${uuidIn(accounts[type].own())}`,
    ],
    ['of another type', (type) => `Quote:${uuidIn(accounts[type].own())}`],
    ['capital', (type) => accounts[type].own().toUpperCase()],
    ['unprintable', (type) => `${type}:\u0000`],
  ] as readonly [string, (type: keyof typeof accounts) => string][]
).flatMap(([what, id]): Case[] => {
  const code = 'ACCOUNT_NOT_FOUND';
  const [inside, outside] = [() => id('InternalAccount'), () => id('ExternalAccount')];
  const [source, destination] = ['sourceAccountId', 'destinationAccountId'];
  return [
    [`${what} source`, 'transferOut', () => ({ sourceAccountId: inside() }), code, source],
    [`${what} destination`, 'transferOut', () => ({ destinationAccountId: outside() }), code, destination],
    [`${what} source`, 'transferIn', () => ({ sourceAccountId: outside() }), code, source],
    [`${what} destination`, 'transferIn', () => ({ destinationAccountId: inside() }), code, destination],
    [`${what} source`, 'createQuote', () => from(inside()), code, 'source.account.accountId'],
    [`${what} destination`, 'createQuote', () => to(outside()), code, 'destination.account.accountId'],
    [`${what} account`, 'sandboxFundAccount', () => ({ accountId: inside() }), code, 'accountId'],
    [`${what} quote`, 'executeQuote', () => ({ quoteId: outside() }), 'QUOTE_NOT_FOUND', 'quoteId'],
    [`${what} quote`, 'sandboxSend', () => ({ quoteId: outside() }), 'QUOTE_NOT_FOUND', 'quoteId'],
  ];
});

const [invalid, currency, poor] = ['INVALID_INPUT', 'INVALID_CURRENCY', 'INSUFFICIENT_BALANCE'];
const locked = (lockedCurrencyAmount: number) => ({ lockedCurrencyAmount });
const others: Case[] = [
  [
    'other currency',
    'transferOut',
    () => ({ destinationAccountId: scene.outsideEur }),
    currency,
    'destinationAccountId',
  ],
  ['other currency', 'transferIn', () => ({ destinationAccountId: scene.eur }), currency, 'destinationAccountId'],
  ['source outside', 'transferOut', () => ({ sourceAccountId: scene.outsideUsd }), invalid, 'sourceAccountId'],
  ['destination here', 'transferOut', () => ({ destinationAccountId: platformUsd }), invalid, 'destinationAccountId'],
  ['source here', 'transferIn', () => ({ sourceAccountId: platformUsd }), invalid, 'sourceAccountId'],
  ['source to itself', 'createQuote', () => to(scene.usd), 'SELF_PAYMENT', 'destination.account.accountId'],
  ['odd currency', 'createQuote', () => funding({ currency: 'X\0' }), currency, 'source.realtimeFunding.currency'],
  [
    'foreign payer',
    'createQuote',
    () => funding({ customerId: foreign.customerId }),
    'USER_NOT_FOUND',
    'source.realtimeFunding.customerId',
  ],
  ['early funding', 'createQuote', () => ({ ...funding({}), immediatelyExecute: true }), invalid, 'immediatelyExecute'],
  ['too little money', 'transferOut', () => ({ amount: 10_001 }), poor, 'sourceAccountId'],
  ['too little money', 'createQuote', () => ({ immediatelyExecute: true, ...locked(10_001) }), poor, 'source.account'],
  ['nothing left', 'createQuote', () => locked(1), 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount.units'],
  ['an unpaired surrogate', 'transferOut', () => ({ description: 'a\ud800b' }), invalid, 'description'],
  ['a control character', 'transferIn', () => ({ description: 'a\u0007b' }), invalid, 'description'],
  ['a control character', 'createQuote', () => ({ description: 'a\0b' }), invalid, 'description'],
  ['a long memo', 'createQuote', () => ({ description: 'x'.repeat(501) }), invalid, 'description'],
  ['a control character', 'createCustomer', () => ({ platformCustomerId: 'a\nb' }), invalid, 'platformCustomerId'],
  ['an unpaired surrogate', 'createCustomer', () => ({ platformCustomerId: 'a\udc00' }), invalid, 'platformCustomerId'],
  ['a blank id', 'createCustomer', () => ({ platformCustomerId: ' ' }), invalid, 'platformCustomerId'],
  [
    'a control character',
    'createCustomer',
    () => ({ details: { individual: { fullName: 'Grace\0' } } }),
    invalid,
    'details.individual.fullName',
  ],
  ...['emailAddress', 'taxId', 'title', 'fullName'].map(
    (field): Case => [
      `a control character in ${field}`,
      'createCustomer',
      () => owner({ [field]: 'a\0' }),
      invalid,
      `details.business.beneficialOwners.0.${field}`,
    ],
  ),
  ['a bad address', 'createCustomer', () => ({ umaAddress: '$a\0@b.c' }), 'INVALID_UMA_ADDRESS', 'umaAddress'],
  ['a control character', 'createExternalAccount', () => ({ platformAccountId: '\x7f' }), invalid, 'platformAccountId'],
  [
    'a control character',
    'createExternalAccount',
    () => ({ accountInfo: { usAccount: { ...us, bankName: 'a\0' } } }),
    'INVALID_BANK_ACCOUNT',
    'accountInfo.usAccount.bankName',
  ],
  [
    'a control character',
    'createExternalAccount',
    () => ({ beneficiary: { business: { legalName: 'a\0' } } }),
    invalid,
    'beneficiary.business.legalName',
  ],
  ['odd currency', 'createExternalAccount', () => ({ currency: 'X\0' }), currency, 'currency'],
  ['wrong currency', 'createExternalAccount', () => ({ currency: 'EUR' }), currency, 'currency'],
  ['no owner', 'createExternalAccount', () => ({ beneficiary: null }), invalid, 'beneficiary'],
  ['funding outside', 'sandboxFundAccount', () => ({ accountId: scene.outsideUsd }), invalid, 'accountId'],
  ...['', ' ', 'with space', 'a\0', 'é', 'x'.repeat(256)].flatMap((idempotencyKey) =>
    (['transferOut', 'createQuote', 'executeQuote', 'createCustomer'] as const).map(
      (mutation): Case => ['a bad key', mutation, () => ({ idempotencyKey }), invalid, 'idempotencyKey'],
    ),
  ),
];

test.each([...amounts, ...ids, ...others])(
  '%s in %s is refused with code, path and reason, and changes nothing',
  async (_what, mutation, changes, code, path) => {
    const before = await everything();
    expect(await run(mutation, { ...sound[mutation](), ...changes() })).toEqual({
      __typename: expect.stringMatching(/Error$/),
      code,
      message: expect.stringMatching(/\w+ \w+/),
      path: ['input', ...path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))],
    });
    // A refusal of the domain is stored under the key, which a transfer has.
    const stored = mutation === 'transferOut' && code === poor ? 1n : 0n;
    expect(await everything()).toEqual({ ...before, receipts: before.receipts + stored });
  },
);
