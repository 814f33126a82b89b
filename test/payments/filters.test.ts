import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute, feedEnd, mint, pay, quote, seen, succeed, umaAddressOf, umaQuote, usdToEur } from '../setup/acts.ts';
import { connect, type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, ownAccount, type Scene } from '../setup/scene.ts';

// Which payments a filter finds, and no others: at the edges of each. Those that match it are named.

let t: TestGateway;
let scene: Scene;
let other: Scene;
/** The payments, by the ids of their transactions. */
const names = new Map<string, string>();
const addresses: Record<'own' | 'other', string> = { own: '', other: '' };
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
  [scene, other] = [await makeScene(t.platform), await makeScene(t.platform, 0n)];
  addresses.own = await umaAddressOf(t.platform, scene.customerId);
  addresses.other = await umaAddressOf(t.platform, other.customerId);
  names.set((await pay(t.platform, scene, 100)).id, 'out');
  const pulling = { sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd, amount: 200 };
  names.set((await succeed(t.platform, 'transferIn', pulling, 'transaction { id }')).transaction.id, 'in');
  names.set((await quote(t.platform, usdToEur(scene))).transaction.id, 'quoted');
  const after = await feedEnd(t.platform);
  const made = await umaQuote(t.platform, scene.usd, addresses.other);
  names.set(made.transaction.id, 'sent');
  await execute(t.platform, made.id);
  const arriving = await seen(t.platform, after, ({ type, status }) => type === 'INCOMING' && status === 'PENDING');
  names.set(arriving.id, 'arriving');
});
afterAll(() => t.stop());

async function found(filter: object, as: TestPlatform = t.platform): Promise<string> {
  const list =
    'query ($filter: TransactionFilter) { transactions(filter: $filter, first: 100) { edges { node { id } } } }';
  const { transactions } = await as.ask(list, { filter });
  return transactions.edges
    .map(({ node }: Data) => names.get(node.id))
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
];

test.each(cases)('a filter by %s finds that, and nothing beside it', async (_what, filter, expected) => {
  expect(await found(filter())).toBe(expected);
});

test('the app of a payment, which does not see whose it is, finds nothing by its customer', async () => {
  const [id = ''] = [...names].find(([, name]) => name === 'sent') ?? [];
  const { token } = await mint(t.platform, { transactionId: id, permissions: ['VIEW'] });
  const app = connect(t.url, t.platform.platformId, `Bearer ${token}`);
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
  expect(await euros({ platformOwned: false })).toEqual([scene.eur, other.eur, other.outsideEur].sort());
  expect(await euros({ kind: 'EXTERNAL' })).toEqual([other.outsideEur]);
});
