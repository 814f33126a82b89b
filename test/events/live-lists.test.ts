import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildSchema, type GraphQLInputObjectType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { moving, usdToEur } from '../setup/acts.ts';
import { type Data, ownGateway, setAccountStatus, testGateway } from '../setup/gateway.ts';
import { history, play } from '../setup/live-list-histories.ts';
import { Statements } from '../setup/statements.ts';
import { nextOf, openRawSocket, sequenced, subscribed } from '../setup/streams.ts';

/** Tests lists that clients keep current by applying changes. Set `LISTS_SEED` to repeat a run of random histories. */

const { LISTS_RUNS, LISTS_SEED } = process.env;

const t = await testGateway();
const scene = await t.platform.makeScene();

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

function filterOf(field: string): GraphQLInputObjectType {
  const type = schema
    .getSubscriptionType()
    ?.getFields()
    [field]?.args.find(({ name }) => name === 'filter')?.type;
  if (!isInputObjectType(type)) throw new Error(`${field} has no filter`);
  return type;
}

test('a list updated by its changes equals a fresh read of the list, through random histories and lost connections', async () => {
  await fc.assert(
    fc.asyncProperty(history, (one) => play(t, one)),
    { numRuns: Number(LISTS_RUNS ?? 4), endOnFailure: true, ...(LISTS_SEED && { seed: Number(LISTS_SEED) }) },
  );
});

test('a stream reports when a row enters a list, which of its fields change, and when it leaves', async () => {
  const query = `subscription ($filter: TransactionFilter) { transactionChanges(filter: $filter) { cursor
    snapshot(first: 2) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } }
    changes { op changed cursor node { id status version customer { id } } } } }`;
  const filter = { customerId: scene.customerId, status: ['PENDING'] };
  const stream = t.platform.valuesOf(query, { filter });
  const empty = { totalCount: 0, edges: [], pageInfo: { hasNextPage: false } };
  expect(await nextOf(stream)).toMatchObject({ changes: [], snapshot: empty });
  const { id } = await t.platform.pay(scene);
  const enter = await nextOf(stream);
  const node = { id, status: 'PENDING', version: 1, customer: { id: scene.customerId } };
  expect(enter).toMatchObject({ snapshot: null, changes: [{ op: 'ENTER', changed: [], node }] });
  expect(enter.cursor).toBe(enter.changes[0].cursor);
  const { changes } = await nextOf(stream);
  expect(changes).toMatchObject([{ op: 'LEAVE', node: { id, version: 2 } }]);
  expect(changes[0].changed).toEqual(expect.arrayContaining(['status', 'version', 'updatedAt', 'terminal']));
  expect(changes[0].changed).not.toContain('sentAmount');
  await stream.return();
});

test('changes within `waitMs` arrive in one message, with each row once and in its latest state', async () => {
  const { usd, eur } = await t.platform.makeScene(0n);
  await sequenced(t);
  const query = `subscription { accountChanges(filter: { kind: INTERNAL }, waitMs: 500, snapshot: false) {
    cursor changes { op cursor changed node { id version ... on InternalAccount { balance { amount } } } } } }`;
  const last = new Map<string, Data>();
  const counts: number[] = [];
  const reading = (async () => {
    for await (const { cursor, changes } of t.platform.valuesOf(query)) {
      expect(cursor).toBe(changes.at(-1).cursor);
      expect(new Set(changes.map(({ node }: Data) => node.id)).size).toBe(changes.length);
      for (const change of changes) {
        expect(change).toMatchObject({ op: 'UPDATE', changed: expect.arrayContaining(['balance']) });
        expect(change.node.version).toBeGreaterThan(last.get(change.node.id)?.version ?? 0);
        last.set(change.node.id, change.node);
      }
      counts.push(changes.length);
      if ([usd, eur].every((id) => last.get(id)?.balance.amount === '10')) return;
    }
  })();
  await subscribed(t, 1);
  for (let count = 0; count < 10; count += 1) for (const id of [usd, eur]) await t.platform.fund(id, 1n);
  await reading;
  expect(counts.length).toBeLessThan(20);
});

test('a row that enters and leaves within `waitMs` is sent as LEAVE, because the page may contain it', async () => {
  const after = await t.platform.feedEnd();
  const customerId = await t.platform.newCustomer();
  await t.platform.succeed('deleteCustomer', { customerId });
  const query = `subscription ($after: String) {
    customerChanges(filter: {}, waitMs: 1000, after: $after) { changes { op node { id } } } }`;
  const [{ changes }] = await t.platform.followed(query, { after }, () => true);
  expect(changes).toContainEqual({ op: 'LEAVE', node: { id: customerId } });
});

test('changes to a row within `waitMs` are sent as one ENTER if it enters, and as one UPDATE if it was listed before', async () => {
  const { customerId, outsideUsd: entering, outsideEur: listed } = await t.platform.makeScene();
  await setAccountStatus(t, entering, 'UNDER_REVIEW');
  await sequenced(t);
  const after = await t.platform.feedEnd();
  for (const status of ['UNDER_REVIEW', 'ACTIVE']) await setAccountStatus(t, listed, status);
  await setAccountStatus(t, entering, 'ACTIVE');
  await t.platform.succeed('updateExternalAccount', { accountId: entering, platformAccountId: 'ours' });
  await sequenced(t);
  const query = `subscription ($filter: AccountFilter!, $after: String) {
    accountChanges(filter: $filter, waitMs: 1000, after: $after) { changes { op node { id } } } }`;
  const filter = { customerId, kind: 'EXTERNAL', status: ['ACTIVE'] };
  const [{ changes }] = await t.platform.followed(query, { filter, after }, () => true);
  expect(changes).toEqual([
    { op: 'UPDATE', node: { id: listed } },
    { op: 'ENTER', node: { id: entering } },
  ]);
});

test('a row that enters, leaves and enters again within `waitMs` is sent as ENTER, because the page did not contain it', async () => {
  const { outsideEur: accountId } = await t.platform.makeScene();
  const after = await t.platform.feedEnd();
  for (const status of ['UNDER_REVIEW', 'ACTIVE', 'UNDER_REVIEW']) await setAccountStatus(t, accountId, status);
  const { account } = await t.platform.ask('query ($id: ID!) { account(id: $id) { version } }', { id: accountId });
  const query = `subscription ($after: String) { accountChanges(filter: { status: [UNDER_REVIEW] }, waitMs: 1000, after: $after) {
    changes { op node { id version } } } }`;
  let isListed = false;
  for await (const { changes } of t.platform.valuesOf(query, { after })) {
    for (const { op } of changes) {
      if (op === 'UPDATE') expect(isListed).toBe(true);
      isListed = op !== 'LEAVE';
    }
    if (changes.at(-1)?.node.version === account.version) break;
  }
  expect(isListed).toBe(true);
});

test('the error names a filter that streams do not support or that has an unknown id', async () => {
  const nobody = 'Customer:00000000-0000-7000-8000-000000000000';
  const refusals = [
    ['transactionChanges', 'TransactionFilter', { senderAccountIdentifier: '$ada@example.com' }, 'INVALID_INPUT'],
    ['quoteChanges', 'QuoteFilter', { sendingUmaAddress: '$ada@example.com' }, 'INVALID_INPUT'],
    ['transactionChanges', 'TransactionFilter', { customerId: nobody }, 'NOT_FOUND'],
    ['quoteChanges', 'QuoteFilter', { sendingAccountId: 'nonsense' }, 'NOT_FOUND'],
    ['accountChanges', 'AccountFilter', { customerId: 'Customer:nonsense' }, 'NOT_FOUND'],
  ] as const;
  for (const [field, type, filter, code] of refusals) {
    const query = `subscription ($filter: ${type}) { ${field}(filter: $filter) { cursor } }`;
    const [name] = Object.keys(filter);
    const { errors } = await nextOf(t.platform.watch(query, { filter }));
    expect(errors).toMatchObject([{ extensions: { code, field: `filter.${name}` } }]);
  }
});

test('a list can be followed with each of its filters, except those named in docs/streams.md', async () => {
  const moment = '2020-01-01T00:00:00Z';
  const moments = { createdAfter: moment, createdBefore: moment };
  const changed = { ...moments, updatedAfter: moment, updatedBefore: moment };
  const { customerId, usd, outsideEur } = scene;
  const lists = {
    transactionChanges: {
      ...changed,
      customerId,
      platformCustomerId: 'anybody',
      senderAccountIdentifier: usd,
      receiverAccountIdentifier: outsideEur,
      status: ['COMPLETED'],
      type: ['OUTGOING'],
      failureReason: ['QUOTE_EXPIRED'],
      reference: 'anything',
      accountId: usd,
      currency: 'USD',
      amount: { currency: 'USD', min: 1, max: 2 },
      executed: true,
    },
    quoteChanges: {
      ...moments,
      customerId,
      sendingAccountId: usd,
      receivingAccountId: outsideEur,
      sendingUmaAddress: null,
      receivingUmaAddress: '$ada@example.com',
      status: ['PENDING'],
    },
    accountChanges: {
      ...{ kind: 'EXTERNAL', currency: 'USD', customerId, platformOwned: true, isIncludingDeleted: true },
      ...{ status: ['ACTIVE'], accountType: ['IBAN'], beneficiaryVerificationStatus: ['MATCHED'] },
    },
    customerChanges: {
      ...changed,
      platformCustomerId: 'anybody',
      customerType: 'BUSINESS',
      kycStatus: ['APPROVED'],
      name: 'Ada',
      umaAddress: '$ada@example.com',
      isIncludingDeleted: true,
    },
  };
  for (const [field, samples] of Object.entries(lists)) {
    const type = filterOf(field);
    expect(Object.keys(samples).toSorted()).toEqual(Object.keys(type.getFields()).toSorted());
    const query = `subscription ($filter: ${type.name}) { ${field}(filter: $filter) { cursor } }`;
    for (const [name, value] of Object.entries(samples)) {
      if (value === null) continue;
      const stream = t.platform.watch(query, { filter: { [name]: value } });
      const followed = { data: { [field]: { cursor: expect.any(String) } } };
      expect(await nextOf(stream), `${field} by ${name}`).toEqual(followed);
      await stream.return?.();
    }
  }
});

test('a payment enters the list of executed payments when its quote is executed', async () => {
  const { customerId, ...own } = await t.platform.makeScene();
  const query = `subscription ($filter: TransactionFilter) { transactionChanges(filter: $filter) {
    snapshot { totalCount } changes { op node { id status } } } }`;
  const [begun, waiting] = [true, false].map((executed) =>
    t.platform.valuesOf(query, { filter: { customerId, executed } }),
  ) as [AsyncGenerator<Data, void>, AsyncGenerator<Data, void>];
  for (const stream of [begun, waiting])
    expect(await nextOf(stream)).toEqual({ snapshot: { totalCount: 0 }, changes: [] });
  const { id: quoteId, transaction } = await t.platform.quote(usdToEur({ customerId, ...own }));
  const { id } = transaction;
  expect(await nextOf(waiting)).toMatchObject({ changes: [{ op: 'ENTER', node: { id, status: 'PENDING' } }] });
  await t.platform.execute(quoteId);
  expect((await nextOf(waiting)).changes[0]).toMatchObject({ op: 'LEAVE', node: { id, status: 'PROCESSING' } });
  expect((await nextOf(begun)).changes[0]).toMatchObject({ op: 'ENTER', node: { id, status: 'PROCESSING' } });
  await Promise.all([begun.return(), waiting.return()]);
});

test('a list filtered by name can be followed, even if name and filter differ in case or Unicode composition', async () => {
  const query = `subscription { customerChanges(filter: { name: "STRASSE e\u0301" }, waitMs: 0) {
    cursor changes { op changed node { name } } } }`;
  const stream = t.platform.valuesOf(query);
  await nextOf(stream);
  const rename = (customerId: string, fullName: string) =>
    t.platform.succeed('updateCustomer', { customerId, details: { individual: { fullName } } });
  const customerId = await t.platform.newCustomer('Nobody');
  const enter = async (fullName: string) => {
    await rename(customerId, fullName);
    return (await nextOf(stream)).changes;
  };
  const name = 'Stra\u1e9ee \u00c9cole';
  expect(await enter(name)).toMatchObject([{ op: 'ENTER', node: { name } }]);
  const changed = ['version', 'updatedAt', 'name', 'details'];
  expect(await enter('stra\u00dfe E\u0301COLE')).toMatchObject([{ op: 'UPDATE', changed }]);
  expect(await enter('Strasse')).toMatchObject([{ op: 'LEAVE' }]);
  await stream.return();
});

test("an app's list contains only what the app may see", async () => {
  const [mine, other] = [await t.platform.makeScene(), await t.platform.makeScene()];
  const app = await t.platform.appOf({ customerId: mine.customerId });
  const query = `subscription { accountChanges(filter: { kind: INTERNAL }) {
    snapshot { edges { node { id } } } changes { op node { id } } } }`;
  const stream = app.valuesOf(query);
  const { snapshot } = await nextOf(stream);
  const shown = snapshot.edges.map(({ node }: Data) => node.id);
  expect(shown).toEqual(expect.arrayContaining([mine.usd, mine.eur]));
  expect(shown).not.toContain(other.usd);
  await t.platform.fund(other.usd, 1n);
  await t.platform.fund(mine.usd, 1n);
  expect((await nextOf(stream)).changes).toEqual([{ op: 'UPDATE', node: { id: mine.usd } }]);
  await stream.return();
});

test('followers of the same list share the processing of a change', async () => {
  const serving = await ownGateway({ ROLE: 'serve' }, t.databaseUrl);
  const statements = new Statements(serving.gateway.serving.pool);
  const raw = await openRawSocket(serving.url, t.platform.authorization);
  const query = `subscription ($filter: QuoteFilter) { quoteChanges(filter: $filter, snapshot: false) {
    cursor changes { op changed node { id status transaction { id customer { id } } } } } }`;
  for (let id = 0; id < 10; id += 1)
    raw.send({ id: String(id), type: 'subscribe', payload: { query, variables: { filter: { status: ['PENDING'] } } } });
  await subscribed(serving, 10);
  const { result, statements: sent } = await statements.during(async () => {
    const { id } = await t.platform.quote(usdToEur(scene));
    const messages = await Promise.all(Array.from({ length: 10 }, () => raw.receive('next')));
    return { id, messages };
  });
  for (const { payload } of result.messages) {
    expect(payload).toEqual(result.messages[0].payload);
    const node = { id: result.id, status: 'PENDING' };
    expect(payload.data.quoteChanges.changes).toMatchObject([{ op: 'ENTER', node }]);
  }
  // A new row has no earlier state, so a single statement reads everything, including the selected fields.
  expect(sent).toHaveLength(1);
  const left = await statements.during(async () => {
    await t.platform.execute(result.id);
    return Promise.all(Array.from({ length: 10 }, () => raw.receive('next')));
  });
  expect(left.result[0].payload.data.quoteChanges.changes).toMatchObject([{ op: 'LEAVE', node: { id: result.id } }]);
  // A change takes two statements, or more if the payment has changed again. Ten separate followers would need at least
  // twenty statements.
  expect(left.statements.length).toBeGreaterThanOrEqual(2);
  expect(left.statements.length).toBeLessThan(10);
  raw.socket.close();
});

test("mutation payloads contain the row's edge in its list", async () => {
  const name = 'Ada Lovelace';
  const ada = { platformCustomerId: 'edge', details: { individual: { fullName: name } } };
  const edge = 'customer { id } customerEdge { cursor node { id name accounts(first: 1) { totalCount } } }';
  const { customer, customerEdge } = await t.platform.succeed('createCustomer', ada, edge);
  expect(customerEdge.node).toEqual({ id: customer.id, name, accounts: { totalCount: expect.any(Number) } });
  const input = moving(scene.usd, scene.outsideUsd, 100);
  const { transactionEdge } = await t.platform.succeed('transferOut', input, 'transactionEdge { cursor node { id } }');
  const { customers, transactions } = await t.platform.ask(
    '{ customers(first: 1) { edges { cursor node { id } } } transactions(first: 1) { edges { cursor node { id } } } }',
  );
  expect(customers.edges).toEqual([{ cursor: customerEdge.cursor, node: { id: customer.id } }]);
  expect(transactions.edges).toEqual([{ cursor: transactionEdge.cursor, node: { id: transactionEdge.node.id } }]);
});

test("a payload with a quote includes the payment's edge, and a change in a live list includes the row's edge", async () => {
  const own = await t.platform.makeScene();
  const edge = '{ cursor node { id status customer { id } } }';
  const stream = t.platform.valuesOf(
    `subscription ($filter: TransactionFilter) { transactionChanges(filter: $filter) { changes { op node { id } edge ${edge} } } }`,
    { filter: { customerId: own.customerId } },
  );
  expect(await nextOf(stream)).toEqual({ changes: [] });
  const made = await t.platform.succeed('createQuote', usdToEur(own), `quote { id } transactionEdge ${edge}`);
  const { changes } = await nextOf(stream);
  expect(changes).toEqual([{ op: 'ENTER', node: { id: made.transactionEdge.node.id }, edge: made.transactionEdge }]);
  const moved = await t.platform.succeed('executeQuote', { quoteId: made.quote.id }, `transactionEdge ${edge}`);
  const { transactions } = await t.platform.ask(`{ transactions(first: 1) { edges ${edge} } }`);
  expect(transactions.edges).toMatchObject([
    { cursor: made.transactionEdge.cursor, node: { id: moved.transactionEdge.node.id } },
  ]);
  expect(moved.transactionEdge.cursor).toBe(made.transactionEdge.cursor);
  await stream.return();
});

test('one stream sends the current states and all changes of several payments, and completes once all have ended', async () => {
  const paid = await t.platform.pay(scene);
  await t.platform.ended(paid.id);
  const open = await t.platform.quote(usdToEur(scene));
  const ids = [paid.id, open.transaction.id, paid.id];
  const query = `subscription ($ids: [ID!]!, $after: String) { transactionUpdates(of: { transactionIds: $ids }, after: $after) {
    cursor status previousStatus terminal transaction { id } } }`;
  const stream = t.platform.valuesOf(query, { ids });
  const firsts = [await nextOf(stream), await nextOf(stream)];
  expect(firsts).toMatchObject([
    { status: 'COMPLETED', previousStatus: null, transaction: { id: paid.id } },
    { status: 'PENDING', previousStatus: null, transaction: { id: open.transaction.id } },
  ]);
  await t.platform.execute(open.id);
  const rest: Data[] = [];
  for await (const update of stream) rest.push(update);
  expect(rest.map(({ transaction }) => transaction.id)).toEqual(rest.map(() => open.transaction.id));
  expect(rest.at(-1)).toMatchObject({ status: 'COMPLETED', terminal: true });
  // Wherever it is resumed, the stream sends everything that follows and then completes.
  const all = [...firsts, ...rest];
  for (const [at, { cursor }] of all.entries()) {
    const resumed = await t.platform.followed(query, { ids, after: cursor });
    expect(resumed.map(({ cursor: of }) => of)).toEqual(all.slice(at + 1).map(({ cursor: of }) => of));
  }
  const { errors } = await nextOf(t.platform.watch(query, { ids: [paid.id, 'Transaction:nonsense'] }));
  expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND', field: 'of.transactionIds' } }]);
});

test("one stream follows all of a customer's accounts, including the status of external accounts", async () => {
  const { customerId, usd, outsideUsd } = await t.platform.makeScene(0n);
  const fields =
    'cursor oldBalance { amount } newBalance { amount } previousStatus status account { id currency { code } customer { id } }';
  const query = `subscription ($of: FollowedAccountsInput!) { accountUpdates(of: $of) { ${fields} } }`;
  const [ofCustomer, ofOne] = [{ customerId }, { accountId: outsideUsd }].map((of) =>
    t.platform.valuesOf(query, { of }),
  ) as [AsyncGenerator<Data, void>, AsyncGenerator<Data, void>];
  expect(await nextOf(ofOne)).toMatchObject({
    status: 'ACTIVE',
    previousStatus: null,
    newBalance: null,
    account: { id: outsideUsd },
  });
  const pending = nextOf(ofCustomer);
  await subscribed(t, 2);
  await t.platform.fund(usd, 5n);
  expect(await pending).toMatchObject({
    oldBalance: { amount: '0' },
    newBalance: { amount: '5' },
    status: null,
    account: { id: usd, currency: { code: 'USD' }, customer: { id: customerId } },
  });
  await setAccountStatus(t, outsideUsd, 'INACTIVE');
  const change = { previousStatus: 'ACTIVE', status: 'INACTIVE', newBalance: null, account: { id: outsideUsd } };
  expect(await nextOf(ofCustomer)).toMatchObject(change);
  expect(await nextOf(ofOne)).toMatchObject(change);
  await ofCustomer.return();
  await ofOne.return();
});

test('a customer’s stream shows the identity check and every change, and ends when the customer is deleted', async () => {
  const customerId = await t.platform.newCustomer('Grace Hopper 001');
  const query = `subscription ($id: ID, $after: String) { customerUpdates(customerId: $id, after: $after) {
    cursor previousKycStatus kycStatus customer { id name isDeleted } } }`;
  const stream = t.platform.valuesOf(query, { id: customerId });
  const first = await nextOf(stream);
  expect(first).toMatchObject({ previousKycStatus: null, kycStatus: 'PENDING_REVIEW', customer: { id: customerId } });
  await t.platform.succeed('updateCustomer', { customerId, details: { individual: { fullName: 'Ada Lovelace' } } });
  const renamed = await nextOf(stream);
  expect(renamed).toMatchObject({ customer: { name: 'Ada Lovelace', isDeleted: false } });
  await t.platform.succeed('deleteCustomer', { customerId });
  expect(await nextOf(stream)).toMatchObject({ customer: { isDeleted: true } });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});
