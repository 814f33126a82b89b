import { expect, test } from 'vitest';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(10_000n);
const platformUsd = await t.platform.ownAccount('USD');

/** Returns the number of rows in each table, and the versions of mutable rows. A refusal must change neither. */
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

/** Valid inputs. Each case makes one of them invalid. */
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

/** The fault, the mutation, the changes to its valid input, the refusal's code, and its path. */
type Case = readonly [what: string, mutation: Mutation, changes: () => object, code: string, path: string];

/** Malformed variants of an account id. The matrix (test/attack/matrix.test.ts) tries other platforms' ids. */
const ids = (
  [
    ['without its type', uuidIn],
    ['of the other kind', (id) => `${id.startsWith('Internal') ? 'External' : 'Internal'}Account:${uuidIn(id)}`],
    ['of another type', (id) => `Quote:${uuidIn(id)}`],
    ['in capitals', (id) => id.toUpperCase()],
  ] as readonly [string, (id: string) => string][]
).flatMap(([what, form]): Case[] => {
  const code = 'ACCOUNT_NOT_FOUND';
  return [
    [`source id ${what}`, 'transferOut', () => ({ sourceAccountId: form(scene.usd) }), code, 'sourceAccountId'],
    [`destination id ${what}`, 'createQuote', () => to(form(scene.outsideEur)), code, 'destination.account.accountId'],
  ];
});

const [invalid, currency, poor] = ['INVALID_INPUT', 'INVALID_CURRENCY', 'INSUFFICIENT_BALANCE'];
const locked = (lockedCurrencyAmount: number) => ({ lockedCurrencyAmount });
const others: Case[] = [
  [
    'another currency',
    'transferOut',
    () => ({ destinationAccountId: scene.outsideEur }),
    currency,
    'destinationAccountId',
  ],
  ['another currency', 'transferIn', () => ({ destinationAccountId: scene.eur }), currency, 'destinationAccountId'],
  ['external source', 'transferOut', () => ({ sourceAccountId: scene.outsideUsd }), invalid, 'sourceAccountId'],
  [
    'internal destination',
    'transferOut',
    () => ({ destinationAccountId: platformUsd }),
    invalid,
    'destinationAccountId',
  ],
  ['internal source', 'transferIn', () => ({ sourceAccountId: platformUsd }), invalid, 'sourceAccountId'],
  ['a payment to its own source', 'createQuote', () => to(scene.usd), 'SELF_PAYMENT', 'destination.account.accountId'],
  ['a bad currency', 'createQuote', () => funding({ currency: 'X\0' }), currency, 'source.realtimeFunding.currency'],
  [
    'immediate execution with real-time funding',
    'createQuote',
    () => ({ ...funding({}), immediatelyExecute: true }),
    invalid,
    'immediatelyExecute',
  ],
  ['too little money', 'transferOut', () => ({ amount: 10_001 }), poor, 'sourceAccountId'],
  ['too little money', 'createQuote', () => ({ immediatelyExecute: true, ...locked(10_001) }), poor, 'source.account'],
  ['too small an amount', 'createQuote', () => locked(1), 'AMOUNT_OUT_OF_RANGE', 'lockedCurrencyAmount.units'],
  ['wrong currency', 'createExternalAccount', () => ({ currency: 'EUR' }), currency, 'currency'],
  ['no owner', 'createExternalAccount', () => ({ beneficiary: null }), invalid, 'beneficiary'],
  ['a bad address', 'createCustomer', () => ({ umaAddress: '$a\0@b.c' }), 'INVALID_UMA_ADDRESS', 'umaAddress'],
  ['an external account', 'sandboxFundAccount', () => ({ accountId: scene.outsideUsd }), invalid, 'accountId'],
  ...['', ' ', 'with space', 'a\0', 'é', 'x'.repeat(256)].flatMap((idempotencyKey) =>
    (['transferOut', 'createQuote', 'executeQuote', 'createCustomer'] as const).map(
      (mutation): Case => ['a bad key', mutation, () => ({ idempotencyKey }), invalid, 'idempotencyKey'],
    ),
  ),
];

test.each([...ids, ...others])(
  '%s in %s is refused with a code, a path and a reason, and changes nothing',
  async (_what, mutation, changes, code, path) => {
    const before = await everything();
    expect(await t.platform.act(mutation, { ...sound[mutation](), ...changes() })).toEqual({
      __typename: expect.stringMatching(/Error$/),
      code,
      message: expect.stringMatching(/\w+ \w+/),
      path: ['input', ...path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))],
    });
    // A refusal by the domain is stored under the transfer's idempotency key.
    const stored = mutation === 'transferOut' && code === poor ? 1n : 0n;
    expect(await everything()).toEqual({ ...before, receipts: before.receipts + stored });
  },
);
