import { expect, test } from 'vitest';
import { moving, refusal, usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restTransfer } from '../setup/rest.ts';
import { nextOf } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

// Metadata that platforms store on their records (decision 69).

const t = await testGateway();
const platform = t.platform;
const rest = await restClient(t.url, platform.authorization);
const scene = await platform.makeScene(100_000n);

const entry = (key: string, value: string) => ({ key, value });
/** The entries in the order in which they are returned: sorted by key, with capitals before lowercase letters. */
const notes = [entry('10', 'ten'), entry('Order', '42'), entry('a.b-c_d', 'Überweisung "€"')];
const asMap = { Order: '42', '10': 'ten', 'a.b-c_d': 'Überweisung "€"' };
const shuffled = [...notes].reverse();
const selection = 'id metadata { key value }';

function newCustomer(metadata: readonly object[]): Promise<Data> {
  const input = { platformCustomerId: 'noted', details: { individual: { fullName: 'Ada Lovelace' } }, metadata };
  return platform.succeed('createCustomer', input, `customer { ${selection} }`);
}

test("a new record's metadata is in the response, in later reads, in REST and in every webhook's record", async () => {
  const receiver = await ownReceiver();
  await createEndpoint(platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const { customer } = await newCustomer(shuffled);
  expect(customer.metadata).toEqual(notes);
  expect(await platform.fieldsOf('customer', customer.id, selection)).toMatchObject({ metadata: notes });
  expect((await rest.ask('GET', `/customers/${customer.id}`)).metadata).toEqual(asMap);

  const accountInfo = { solanaWallet: { address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' } };
  const wallet = { currency: 'USDC', accountInfo, customerId: customer.id, metadata: shuffled };
  const { account } = await platform.succeed('createExternalAccount', wallet, `account { ${selection} }`);
  expect(account.metadata).toEqual(notes);
  const { data } = await rest.ask('GET', `/customers/external-accounts?customerId=${customer.id}`);
  expect(data[0].metadata).toEqual(asMap);

  const paid = moving(scene.usd, scene.outsideUsd, 100, { metadata: notes });
  const { transaction } = await platform.succeed('transferOut', paid, `transaction { ${selection} }`);
  expect(transaction.metadata).toEqual(notes);
  const records = (received: readonly Data[]) =>
    received.map(({ body }) => body.transaction).filter((one) => one?.id === transaction.id);
  await receiver.until((received) => records(received).some(({ status }) => status === 'COMPLETED'));
  for (const { metadata } of records(receiver.received)) expect(metadata).toEqual(asMap);
  expect((await rest.ask('GET', `/transactions/${transaction.id}`)).metadata).toEqual(asMap);
});

test("a quote's metadata is stored on its transaction, too, and a receiver on this installation does not get it", async () => {
  const input = usdToEur(scene, { metadata: shuffled, immediatelyExecute: true });
  const both = `quote { ${selection} transaction { ${selection} } }`;
  const { quote } = await platform.succeed('createQuote', input, both);
  expect([quote.metadata, quote.transaction.metadata]).toEqual([notes, notes]);
  expect((await rest.ask('GET', `/quotes/${quote.id}`)).metadata).toEqual(asMap);

  const own = await platform.ownAccount('USD');
  const inside = moving(scene.usd, own, 100, { metadata: notes });
  const reference = 'transaction { reconciliationReference }';
  const { transaction } = await platform.succeed('transferInternal', inside, reference);
  const filter = { reference: transaction.reconciliationReference };
  expect(await platform.listed('transactions', filter, 'type metadata { key value }')).toEqual([
    { type: 'INCOMING', metadata: [] },
    { type: 'OUTGOING', metadata: notes },
  ]);
});

test('an update replaces all metadata, an empty list clears it, and an omitted field keeps it', async () => {
  const { customer } = await newCustomer(notes);
  const customerId = customer.id;
  const change = async (more: object): Promise<Data> =>
    (await platform.succeed('updateCustomer', { customerId, ...more }, `customer { version ${selection} }`)).customer;
  const updates = `subscription ($id: ID) { customerUpdates(customerId: $id) { customer { version metadata { key value } } } }`;
  const changes = platform.watch(updates, { id: customerId });
  const nextChange = async () => (await nextOf(changes)).data.customerUpdates.customer;
  expect(await nextChange()).toEqual({ version: 1, metadata: notes });
  const gold = [entry('tier', 'gold')];
  expect(await change({ metadata: gold })).toMatchObject({ version: 2, metadata: gold });
  expect(await nextChange()).toEqual({ version: 2, metadata: gold });
  expect((await change({ details: { individual: { nationality: 'GB' } } })).metadata).toEqual(gold);
  expect((await change({ metadata: [] })).metadata).toEqual([]);
  expect(await rest.ask('GET', `/customers/${customer.id}`)).not.toHaveProperty('metadata');
  await changes.return?.();
  const accountId = scene.outsideUsd;
  const changed = (more: object) =>
    platform.succeed('updateExternalAccount', { accountId, ...more }, `account { ${selection} }`);
  expect((await changed({ metadata: shuffled })).account.metadata).toEqual(notes);
  expect((await changed({ platformAccountId: 'ours' })).account.metadata).toEqual(notes);
  expect((await changed({ metadata: null })).account.metadata).toEqual([]);
});

const key = (length: number) => 'k'.repeat(length);
const many = (count: number) => Array.from({ length: count }, (_none, position) => entry(`key${position}`, ''));

test('20 entries, keys of 40 characters and values of 500 characters are still accepted', async () => {
  const most = [entry(key(40), '€'.repeat(500)), ...many(19)];
  expect((await newCustomer(most)).customer.metadata).toHaveLength(20);
});

test.each([
  ['21 entries', many(21), []],
  ['a key of 41 characters', [entry('fine', ''), entry(key(41), '')], [1]],
  ['an empty key', [entry('', '')], [0]],
  ['a key with a space', [entry('my key', '')], [0]],
  ['a key that begins with an underscore', [entry('_x', 'x')], [0]],
  ['a key with a special meaning in JavaScript', [entry('fine', ''), entry('__proto__', 'x')], [1]],
  ['a value of 501 characters', [entry('fine', ''), entry('long', 'x'.repeat(501))], [1]],
  ['a value that cannot be stored', [entry('zero', 'a\u0000b')], [0]],
])('metadata with %s is refused with the path of the entry, in both APIs', async (_what, metadata, at) => {
  const made = await platform.transfer('transferOut', scene, 100, { metadata });
  expect(made).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'metadata', ...at] });
  const map = Object.fromEntries(metadata.map((one) => [one.key, one.value]));
  const body = { ...restTransfer(scene.usd, scene.outsideUsd, 100), metadata: map };
  const answer = await rest.call('POST', '/transfer-out', { raw: JSON.stringify(body), body });
  const field = ['metadata', ...at.map((position) => metadata[position]?.key)].join('.');
  expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', details: { field } } });
});

test('every refused entry is named, and so is a duplicate key', async () => {
  const body = { ...restTransfer(scene.usd, scene.outsideUsd, 100), metadata: { '-': '', fine: '', '*': '' } };
  const { details } = (await rest.call('POST', '/transfer-out', { body })).body;
  expect(details.errors.map(({ field }: Data) => field)).toEqual(['metadata.-', 'metadata.*']);
  const twice = usdToEur(scene, { metadata: [entry('a', '1'), entry('a', '1')] });
  expect(await platform.act('createQuote', twice)).toMatchObject(refusal('INVALID_INPUT', 'metadata', 1));
});

test('apps see the metadata of the records that they can read, but cannot write metadata', async () => {
  const { quote } = await platform.succeed('createQuote', usdToEur(scene, { metadata: notes }), 'quote { id }');
  const app = await platform.payingApp({ customerId: scene.customerId });
  expect(await app.fieldsOf('quote', quote.id, selection)).toMatchObject({ metadata: notes });
  const refused = refusal('FORBIDDEN', 'metadata');
  for (const metadata of [notes, []])
    expect(await app.act('createQuote', usdToEur(scene, { metadata }))).toMatchObject(refused);
  expect((await app.act('createQuote', usdToEur(scene), 'quote { id }')).quote.id).toMatch(/^Quote:/);
});
