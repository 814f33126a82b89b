import { expect, test } from 'vitest';
import {
  execute,
  feedEnd,
  fieldsOf,
  pay,
  quote,
  seen,
  setAccountStatus,
  succeed,
  umaAddressOf,
  umaQuote,
  usdToEur,
} from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { appOf, serverOf } from '../setup/new-credentials.ts';
import { internalAccount, makeScene, ownAccount } from '../setup/scene.ts';

// What a filter finds, and nothing else: at the edges of each. What matches it is named.

/** What is found, by its id. */
const names = new Map<string, string>();

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const [scene, other] = [await makeScene(t.platform), await makeScene(t.platform, 0n)];
const addresses = {
  own: await umaAddressOf(t.platform, scene.customerId),
  other: await umaAddressOf(t.platform, other.customerId),
};
names.set((await pay(t.platform, scene, 100)).id, 'out');
const pulling = { sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd, amount: 200 };
const shown = 'transaction { id createdAt updatedAt reconciliationReference }';
const { transaction: pulled } = await succeed(t.platform, 'transferIn', pulling, shown);
names.set(pulled.id, 'in');
const quoted = await quote(t.platform, usdToEur(scene));
names.set(quoted.transaction.id, 'quoted').set(quoted.id, 'quoted');
const after = await feedEnd(t.platform);
const made = await umaQuote(t.platform, scene.usd, addresses.other);
names.set(made.transaction.id, 'sent').set(made.id, 'sent');
await execute(t.platform, made.id);
const arriving = await seen(t.platform, after, ({ type, status }) => type === 'INCOMING' && status === 'PENDING');
names.set(arriving.id, 'arriving');
const acme = { platformCustomerId: 'acme', details: { business: { legalName: 'Acme' } } };
const company = (await succeed(t.platform, 'createCustomer', acme, 'customer { id }')).customer.id;
names.set(company, 'acme');
names.set(scene.customerId, 'payer').set(other.customerId, 'other');
names.set(other.outsideUsd, 'closed').set(scene.outsideEur, 'iban').set(scene.outsideUsd, 'us');
const closing = { status: 'INACTIVE', beneficiaryVerificationStatus: 'NOT_MATCHED' };
await setAccountStatus(t.platform, other.outsideUsd, closing);
const [reading, moving] = [await serverOf(t.platform, 'VIEW', 'MANAGE'), await serverOf(t.platform, 'TRANSACT')];
names.set(reading.tokenId, 'reading').set(moving.tokenId, 'moving');
names.set((await serverOf(reading, 'VIEW')).tokenId, 'descendant');
const createdAt = async (field: 'customer' | 'quote', id: string) =>
  (await fieldsOf(t.platform, field, id, 'createdAt')).createdAt;
const [quotedAt, sentAt] = [await createdAt('quote', quoted.id), await createdAt('quote', made.id)];
const [payerAt, acmeAt] = [await createdAt('customer', scene.customerId), await createdAt('customer', company)];

const types = {
  ...{
    transactions: 'TransactionFilter',
    quotes: 'QuoteFilter',
    customers: 'CustomerFilter',
    accounts: 'AccountFilter',
  },
  apiTokens: 'ApiTokenFilter',
};

/** The names of what a filter of a list finds. */
async function found(filter: object, as: TestPlatform = t.platform, list: keyof typeof types = 'transactions') {
  const query = `query ($filter: ${types[list]}) { ${list}(filter: $filter, first: 100) { edges { node { id } } } }`;
  return (await as.ask(query, { filter }))[list].edges
    .flatMap(({ node }: Data) => names.get(node.id) ?? [])
    .sort()
    .join(' ');
}
const usd = (min?: number, max?: number) => ({ amount: { currency: 'USD', min, max } });
const otherKind = (id: string) => id.replace('Internal', 'External');

const cases: readonly (readonly [what: string, filter: () => object, names: string])[] = [
  ['nothing', () => ({}), 'arriving in out quoted sent'],
  ['a customer', () => ({ customerId: scene.customerId }), 'in out quoted sent'],
  ['an account that pays', () => ({ senderAccountIdentifier: scene.usd }), 'out quoted sent'],
  ['an account that is paid', () => ({ receiverAccountIdentifier: scene.usd }), 'in'],
  ['an account on either side', () => ({ accountId: scene.outsideUsd }), 'in out'],
  ['an account as another kind', () => ({ accountId: otherKind(scene.usd) }), ''],
  ['an account that pays as another kind', () => ({ senderAccountIdentifier: otherKind(scene.usd) }), ''],
  ['no account', () => ({ accountId: scene.customerId }), ''],
  [
    'an address that pays',
    () => ({ senderAccountIdentifier: addresses.own.toUpperCase() }),
    'arriving out quoted sent',
  ],
  ['an address that is paid', () => ({ receiverAccountIdentifier: addresses.other.toUpperCase() }), 'arriving sent'],
  ['the address of who is paid from outside', () => ({ receiverAccountIdentifier: addresses.own }), 'in'],
  ['a currency of either side', () => ({ currency: 'EUR' }), 'quoted'],
  ['the least amount', () => usd(200, 200), 'in'],
  ['a unit less than the least', () => usd(201, 999), ''],
  ['the most', () => usd(undefined, 100), 'out'],
  ['a unit more than the most', () => usd(undefined, 99), ''],
  ['the amount that is received', () => ({ amount: { currency: 'EUR', min: 1 } }), 'quoted'],
  ['what has begun', () => ({ executed: true }), 'arriving in out sent'],
  ['what waits for its quote', () => ({ executed: false }), 'quoted'],
  ['two types', () => ({ type: ['INCOMING', 'OUTGOING'], currency: 'EUR' }), 'quoted'],
  ['a type', () => ({ type: ['INCOMING'] }), 'arriving in'],
  ['a status', () => ({ status: ['PROCESSING'] }), 'sent'],
  ['the reason of a failure', () => ({ failureReason: ['QUOTE_EXPIRED'] }), ''],
  ['the id that the platform gave its customer', () => ({ platformCustomerId: 'acme' }), ''],
  ['a reference', () => ({ reference: pulled.reconciliationReference }), 'in'],
  ['the end of the time of its creation', () => ({ createdBefore: pulled.createdAt }), 'in out'],
  ['the beginning of the time of its creation', () => ({ createdAfter: pulled.createdAt }), 'arriving in quoted sent'],
  ['the end of the time of its change', () => ({ updatedBefore: pulled.updatedAt }), 'in out'],
  ['the beginning of the time of its change', () => ({ updatedAfter: pulled.updatedAt }), 'arriving in quoted sent'],
];

test.each(cases)('a filter by %s finds that, and nothing beside it', async (_what, filter, expected) => {
  expect(await found(filter())).toBe(expected);
});

test.each([
  ['quotes', 'a status', { status: ['PENDING'] }, 'quoted'],
  ['quotes', 'the end of the time of its creation', { createdBefore: quotedAt }, 'quoted'],
  ['quotes', 'the beginning of the time of its creation', { createdAfter: sentAt }, 'sent'],
  ['quotes', 'an account that pays', { sendingAccountId: scene.eur }, ''],
  ['quotes', 'an account that is paid', { receivingAccountId: scene.outsideEur }, 'quoted'],
  ['quotes', 'a customer', { customerId: other.customerId }, ''],
  ['quotes', 'the address that pays', { sendingUmaAddress: addresses.other }, ''],
  ['quotes', 'the address that is paid', { receivingUmaAddress: addresses.other.toUpperCase() }, 'sent'],
  ['customers', 'an id of the platform', { platformCustomerId: 'acme' }, 'acme'],
  ['customers', 'a type', { customerType: 'BUSINESS' }, 'acme'],
  ['customers', 'the status of its identity check', { kycStatus: ['REJECTED'] }, ''],
  ['customers', 'an address', { umaAddress: addresses.own.toUpperCase() }, 'payer'],
  ['customers', 'the end of the time of its creation', { createdBefore: payerAt }, 'payer'],
  ['customers', 'the beginning of the time of its creation', { createdAfter: acmeAt }, 'acme'],
  ['customers', 'the end of the time of its change', { updatedBefore: payerAt }, 'payer'],
  ['accounts', 'a status', { status: ['INACTIVE'] }, 'closed'],
  ['accounts', 'a type', { accountType: ['IBAN'], customerId: scene.customerId }, 'iban'],
  ['accounts', 'the verification of its owner', { beneficiaryVerificationStatus: ['NOT_MATCHED'] }, 'closed'],
  ['apiTokens', 'a permission', { permission: 'TRANSACT' }, 'moving'],
  ['apiTokens', 'the token that made it', { createdById: reading.tokenId }, 'descendant'],
  ['apiTokens', 'a name', { name: 'unmade' }, ''],
] as const)('a filter of %s by %s finds that, and nothing beside it', async (list, _what, filter, expected) => {
  expect(await found(filter, t.platform, list)).toBe(expected);
});

test('the app of a payment, which does not see whose it is, finds nothing by its customer', async () => {
  const [id = ''] = [...names].find(([, name]) => name === 'sent') ?? [];
  const app = await appOf(t.platform, { transactionId: id, permissions: ['VIEW'] });
  expect(await found({ executed: true }, app)).toBe('sent');
  for (const filter of [{ customerId: scene.customerId }, { senderAccountIdentifier: addresses.own }])
    expect(await found(filter, app)).toBe('');
});

test('accounts are those of their owner, and deleted ones are found where they are asked for', async () => {
  await succeed(t.platform, 'deleteExternalAccount', { accountId: scene.outsideEur });
  const own = await ownAccount(t.platform, 'EUR');
  const list = 'query ($filter: AccountFilter) { accounts(filter: $filter, first: 100) { edges { node { id } } } }';
  const euros = async (filter: object) => {
    const { accounts } = await t.platform.ask(list, { filter: { currency: 'EUR', ...filter } });
    return accounts.edges.map(({ node }: Data) => node.id).sort();
  };
  const { customerId } = scene;
  expect(await euros({ customerId })).toEqual([scene.eur]);
  expect(await euros({ customerId, isIncludingDeleted: true })).toEqual([scene.outsideEur, scene.eur].sort());
  expect(await euros({ platformOwned: true })).toEqual([own]);
  expect(await euros({ platformOwned: false })).toEqual(
    [scene.eur, other.eur, other.outsideEur, await internalAccount(t.platform, company, 'EUR')].sort(),
  );
  expect(await euros({ kind: 'EXTERNAL' })).toEqual([other.outsideEur]);
});
