import { expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

// Tests the filters that test/graphql/paging.test.ts does not check against a model. The tests identify rows by name.

/** Row names by id. */
const names = new Map<string, string>();

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const [scene, other] = [await t.platform.makeScene(), await t.platform.makeScene(0n)];
const addresses = {
  own: await t.platform.umaAddressOf(scene.customerId),
  other: await t.platform.umaAddressOf(other.customerId),
};
names.set((await t.platform.pay(scene, 100)).id, 'out');
names.set((await t.platform.transfer('transferIn', scene, 200)).id, 'in');
const quoted = await t.platform.quote(usdToEur(scene));
names.set(quoted.transaction.id, 'quoted').set(quoted.id, 'quoted');
const after = await t.platform.feedEnd();
const made = await t.platform.umaQuote(scene.usd, addresses.other);
names.set(made.transaction.id, 'sent').set(made.id, 'sent');
await t.platform.execute(made.id);
// The events of the payments above may come after the cursor `after`.
const isNew = ({ id, type, status }: Data) => !names.has(id) && type === 'INCOMING' && status === 'PENDING';
const arriving = await t.platform.seen(after, isNew);
names.set(arriving.id, 'arriving');
const acme = { platformCustomerId: 'acme', details: { business: { legalName: 'Acme' } } };
const company = (await t.platform.succeed('createCustomer', acme, 'customer { id }')).customer.id;
const [reading, moving] = [await t.platform.serverOf('VIEW', 'MANAGE'), await t.platform.serverOf('TRANSACT')];
names.set(reading.tokenId, 'reading').set(moving.tokenId, 'moving');
names.set((await reading.serverOf('VIEW')).tokenId, 'descendant');

/** Returns the names of the rows in a list that match the filter. */
async function found(filter: object, as = t.platform, list: 'apiTokens' | 'quotes' | 'transactions' = 'transactions') {
  const found = (await as.idsIn(list, filter)).flatMap((id) => names.get(id) ?? []);
  return found.sort().join(' ');
}
const usd = (min?: number, max?: number) => ({ amount: { currency: 'USD', min, max } });
const otherKind = (id: string) => id.replace('Internal', 'External');

const cases: readonly (readonly [what: string, filter: () => object, names: string])[] = [
  ['an account id of the wrong kind', () => ({ accountId: otherKind(scene.usd) }), ''],
  ['a source account id of the wrong kind', () => ({ senderAccountIdentifier: otherKind(scene.usd) }), ''],
  ['a customer id instead of an account id', () => ({ accountId: scene.customerId }), ''],
  ['a source address', () => ({ senderAccountIdentifier: addresses.own.toUpperCase() }), 'arriving out quoted sent'],
  ['a destination address', () => ({ receiverAccountIdentifier: addresses.other.toUpperCase() }), 'arriving sent'],
  ['the destination address of a transfer in', () => ({ receiverAccountIdentifier: addresses.own }), 'in'],
  ['a minimum one unit too high', () => usd(201, 999), ''],
  ['a maximum', () => usd(undefined, 100), 'out'],
  ['a maximum one unit too low', () => usd(undefined, 99), ''],
  ['the received amount', () => ({ amount: { currency: 'EUR', min: 1 } }), 'quoted'],
  ['two types', () => ({ type: ['INCOMING', 'OUTGOING'], currency: 'EUR' }), 'quoted'],
];

test.each(cases)('filtering by %s finds exactly the matching payments', async (_what, filter, expected) => {
  expect(await found(filter())).toBe(expected);
});

test.each([
  ['quotes', 'the destination address', { receivingUmaAddress: addresses.other.toUpperCase() }, 'sent'],
  ['apiTokens', 'a permission', { permission: 'TRANSACT' }, 'moving'],
  ['apiTokens', 'the token that created it', { createdById: reading.tokenId }, 'descendant'],
  ['apiTokens', 'a name', { name: 'unmade' }, ''],
] as const)('filtering %s by %s finds exactly the matching rows', async (list, _what, filter, expected) => {
  expect(await found(filter, t.platform, list)).toBe(expected);
});

test("an app bound to a payment, which cannot see the payment's customer, finds nothing by customer or account", async () => {
  const [id = ''] = [...names].find(([, name]) => name === 'sent') ?? [];
  const app = await t.platform.appOf({ transactionId: id, permissions: ['VIEW'] });
  expect(await found({ executed: true }, app)).toBe('sent');
  for (const filter of [{ customerId: scene.customerId }, { senderAccountIdentifier: addresses.own }])
    expect(await found(filter, app)).toBe('');
});

test("filtering accounts by owner finds the owner's accounts, and deleted ones only on request", async () => {
  await t.platform.succeed('deleteExternalAccount', { accountId: scene.outsideEur });
  const own = await t.platform.ownAccount('EUR');
  const euros = async (filter: object) => (await t.platform.idsIn('accounts', { currency: 'EUR', ...filter })).sort();
  const { customerId } = scene;
  expect(await euros({ customerId })).toEqual([scene.eur]);
  expect(await euros({ customerId, isIncludingDeleted: true })).toEqual([scene.outsideEur, scene.eur].sort());
  expect(await euros({ platformOwned: true })).toEqual([own]);
  const customers = [scene.eur, other.eur, other.outsideEur, await t.platform.internalAccount(company, 'EUR')];
  expect(await euros({ platformOwned: false })).toEqual(customers.sort());
  expect(await euros({ kind: 'EXTERNAL' })).toEqual([other.outsideEur]);
});
