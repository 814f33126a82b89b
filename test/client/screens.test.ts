import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, OperationTypeNode, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';
import * as operations from '../../src/apps/client/generated/operations.ts';
import { sender, usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';
import { createEndpoint, endpointUntil } from '../webhooks/endpoint.ts';
import { answer, ownReceiver } from '../webhooks/receiver.ts';

/** Sends the operation in each file of src/apps/client/operations, with its fragments and its screen's token. */

const folder = 'src/apps/client/operations';
const files = readdirSync(folder).filter((name) => name.endsWith('.graphql') && name !== 'fragments.graphql');
const text = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
const texts: Readonly<Record<string, string>> = operations;
/** Returns the operation in a file, with the fragments that it uses. */
const operationOf = (name: string) => texts[/^(?:query|mutation) (\w+)/m.exec(text(name))?.[1] ?? ''] ?? '';

const t = await testGateway();
const now = async (): Promise<string> => (await t.platform.ask('{ viewer { serverTime } }')).viewer.serverTime;
/** A time just before the first payment. */
const start = await now();
const scene = await t.platform.makeScene();
const app = await appOf({ customerId: scene.customerId });

async function appOf(bound: object, permissions = ['VIEW', 'TRANSACT']): Promise<TestPlatform> {
  const grants = 'customerId' in bound ? ['ADD_BENEFICIARIES', 'LOOK_UP_RECEIVERS'] : [];
  return t.platform.appOf({ ...bound, permissions, grants });
}

const shown = new Set<string>();

/** Sends the operation in a file, and returns its data. */
async function show(by: TestPlatform, name: string, variables: object = {}): Promise<Data> {
  shown.add(`${name}.graphql`);
  return by.ask(operationOf(`${name}.graphql`), variables);
}

const nodes = (connection: Data): Data[] => connection.edges.map(({ node }: Data) => node);
const cursors = (connection: Data): string[] => connection.edges.map(({ cursor }: Data) => cursor);
/** An account number with only its last characters visible. */
const masked = expect.stringMatching(/^•••• .{1,4}$/u);
const text1 = expect.stringMatching(/./);
const cursor = text1;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

/** Pays 10 dollars to the external euro account using a quote, as an app does. Returns the finished payment's id. */
async function payQuote(by: TestPlatform, rest: object = {}): Promise<string> {
  const { createQuote } = await show(by, 'create-quote', { input: usdToEur(scene, rest) });
  const { executeQuote } = await show(by, 'execute-quote', { input: { quoteId: createQuote.quote.id } });
  expect(executeQuote.quote.transaction.id).toBe(createQuote.quote.transaction.id);
  await by.ended(createQuote.quote.transaction.id);
  return createQuote.quote.transaction.id;
}

test('each file is a valid document with one operation, and docs/screens.md has a row for each file', () => {
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
  const page = readFileSync('docs/screens.md', 'utf8');
  const names = files.map((name) => {
    expect(validate(schema, parse(operationOf(name)), specifiedRules)).toEqual([]);
    const [operation, ...more] = parse(text(name)).definitions;
    expect(more, name).toEqual([]);
    if (operation?.kind !== 'OperationDefinition') throw new Error(`${name} has no operation`);
    expect(operation.operation, name).not.toBe(OperationTypeNode.SUBSCRIPTION);
    for (const { variable } of operation.variableDefinitions ?? []) {
      expect(text(name), `${name} explains its variables`).toMatch(
        new RegExp(`^# .*\\$${variable.name.value}\\b`, 'm'),
      );
    }
    expect(page).toContain(`(../${folder}/${name})`);
    return operation.name?.value;
  });
  expect(new Set(names).size).toBe(files.length);
  expect(names).not.toContain(undefined);
});

test('home: balances and the latest payments, without quotes that were never executed', async () => {
  const came = await t.platform.transfer('transferIn', scene, 300);
  await t.platform.ended(came.id);
  const paid = await t.platform.pay(scene, 1_234, { description: 'rent' });
  await t.platform.ended(paid.id);
  await show(app, 'create-quote', { input: usdToEur(scene) });
  const { viewer } = await show(app, 'home', { recent: 2, locale: 'de-DE' });
  expect(viewer).toMatchObject({
    serverTime: time,
    feedCursor: cursor,
    expiresAt: time,
    environment: 'SANDBOX',
    permissions: ['VIEW', 'TRANSACT'],
    grants: ['ADD_BENEFICIARIES', 'LOOK_UP_RECEIVERS'],
    customer: { id: scene.customerId, name: 'Grace Hopper', kycStatus: 'APPROVED' },
  });
  const accounts = nodes(viewer.customer.accounts);
  expect(accounts.length).toBeGreaterThan(10);
  for (const account of accounts) {
    expect(account).toMatchObject({ displayName: text1, maskedNumber: masked });
    expect(account.balance.currency).toMatchObject({ code: text1, symbol: text1, decimals: expect.any(Number) });
  }
  expect(accounts.find(({ id }) => id === scene.usd)).toMatchObject({
    displayName: 'USD account',
    balance: { amount: '999066', decimal: '9990.66', formatted: '9.990,66\u00a0$' },
  });
  const payments = nodes(viewer.customer.transactions);
  expect(payments).toHaveLength(2);
  expect(payments[0]).toMatchObject({
    id: paid.id,
    type: 'OUTGOING',
    status: 'COMPLETED',
    terminal: true,
    description: 'rent',
    sentAmount: { decimal: '12.34', formatted: '12,34\u00a0$' },
    destination: { displayName: 'Grace Hopper', maskedNumber: masked },
  });
  expect(payments[1]).toMatchObject({ id: came.id, type: 'INCOMING', source: { displayName: 'Grace Hopper' } });
  expect(cursors(viewer.customer.transactions)).toEqual([cursor, cursor]);
});

test('payee picker: accounts and payees page by page, a new payee, and the latest payees', async () => {
  const input = {
    customerId: scene.customerId,
    currency: 'EUR',
    accountInfo: { iban: { iban: 'DE02120300000000202051', swiftBic: 'BYLADEM1001' } },
    beneficiary: { individual: { fullName: 'Ada Lovelace' } },
  };
  const { externalAccountForms } = await show(app, 'payee-form', { currency: 'EUR' });
  expect(externalAccountForms).toMatchObject([
    {
      accountType: 'IBAN',
      inputField: 'iban',
      beneficiaryRequired: true,
      exactlyOneOf: [],
      currencies: [{ code: 'EUR' }],
    },
  ]);
  expect(externalAccountForms[0].fields.map(({ name }: Data) => name)).toEqual(['iban', 'swiftBic', 'bankName']);
  const { createExternalAccount: added } = await show(app, 'add-payee', { input });
  expect(added).toMatchObject({
    replayed: false,
    accountEdge: {
      cursor,
      node: {
        displayName: 'Ada Lovelace',
        maskedNumber: '•••• 2051',
        status: 'ACTIVE',
        accountInfo: { accountType: 'IBAN' },
      },
    },
  });
  expect((await show(app, 'add-payee', { input })).createExternalAccount).toMatchObject({
    code: 'CONFLICT',
    existing: { id: added.accountEdge.node.id },
  });
  const wrong = { ...input, currency: 'XXX', accountInfo: { iban: { iban: 'nowhere', swiftBic: '?' } } };
  const { createExternalAccount: refused } = await show(app, 'add-payee', { input: wrong });
  expect(refused.fields.map(({ path }: Data) => path.at(-1)).toSorted()).toEqual(['currency', 'iban', 'swiftBic']);

  await payQuote(app);
  const first = (await show(app, 'payee-picker', { first: 1 })).viewer;
  expect(nodes(first.customer.sources).map(({ id }) => id)).toContain(scene.usd);
  expect(first.customer.payees.edges).toEqual([added.accountEdge]);
  expect(first.customer.payees.pageInfo).toEqual({ hasNextPage: true, endCursor: added.accountEdge.cursor });
  const rest = (await show(app, 'payee-picker', { after: first.customer.payees.pageInfo.endCursor })).viewer;
  expect(nodes(rest.customer.payees).map(({ id }) => id)).toEqual([scene.outsideEur, scene.outsideUsd]);
  expect(nodes(rest.customer.payees)).toEqual([
    expect.objectContaining({ displayName: 'Grace Hopper', maskedNumber: masked, status: 'ACTIVE' }),
    expect.objectContaining({ displayName: 'Grace Hopper', maskedNumber: masked, status: 'ACTIVE' }),
  ]);
  expect(nodes(rest.customer.paidLast)[0].destination).toMatchObject({
    __typename: 'AccountDestination',
    accountId: scene.outsideEur,
    displayName: 'Grace Hopper',
    maskedNumber: masked,
    currency: { code: 'EUR' },
  });
});

test('a receiver at a UMA address: its currencies and required facts, a quote to it, and the receipt', async () => {
  const umaAddress = '$success.usd@sandbox.uma.money';
  const { lookUpReceiver } = await show(app, 'look-up-receiver', {
    input: { umaAddress, sender: { customerId: scene.customerId } },
  });
  expect(Date.parse(lookUpReceiver.lookup.expiresAt)).toBeGreaterThan(Date.parse(lookUpReceiver.serverTime));
  const currency = lookUpReceiver.lookup.supportedCurrencies.find(({ currency: { code } }: Data) => code === 'USD');
  expect(currency).toMatchObject({ minAmount: { formatted: text1 }, maxAmount: { formatted: text1 } });
  const quoted = await show(app, 'create-quote', {
    input: {
      source: { account: { accountId: scene.usd } },
      destination: { uma: { umaAddress, currency: 'USD' } },
      lookupId: lookUpReceiver.lookup.id,
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: { units: 5_000 },
      senderCustomerInfo: sender,
    },
  });
  const { quote } = quoted.createQuote;
  await show(app, 'execute-quote', { input: { quoteId: quote.id } });
  await app.ended(quote.transaction.id);
  const { transaction } = await show(app, 'receipt', { transactionId: quote.transaction.id });
  expect(transaction).toMatchObject({
    status: 'COMPLETED',
    destination: { __typename: 'UmaDestination', umaAddress, displayName: text1 },
  });
  const nobody = { umaAddress: '$nobody@nowhere.test', sender: { customerId: scene.customerId } };
  expect((await show(app, 'look-up-receiver', { input: nobody })).lookUpReceiver).toMatchObject({
    code: expect.stringMatching(/^[A-Z_]+$/),
    message: text1,
  });
});

test('quote with countdown: every read of the quote includes the remaining time', async () => {
  const { createQuote } = await show(app, 'create-quote', { input: usdToEur(scene), locale: 'en-US' });
  const { quote, serverTime } = createQuote;
  const left = Date.parse(quote.expiresAt) - Date.parse(serverTime);
  expect(left).toBeGreaterThan(240_000);
  expect(left).toBeLessThanOrEqual(300_000);
  expect(quote).toMatchObject({
    status: 'PENDING',
    totalSendingAmount: { amount: '1000', formatted: '$10.00', currency: { code: 'USD' } },
    totalReceivingAmount: { formatted: expect.stringMatching(/^€\d+\.\d\d$/) },
    feesIncluded: { formatted: expect.stringMatching(/^\$\d+\.\d\d$/) },
    exchangeRate: expect.stringMatching(/^\d+(\.\d+)?$/),
    source: { displayName: 'USD account', maskedNumber: masked },
    destination: { displayName: 'Grace Hopper', maskedNumber: masked },
    paymentInstructions: [],
  });
  const again = await show(app, 'quote', { quoteId: quote.id, locale: 'en-US' });
  expect(again.quote).toEqual(quote);
  expect(Date.parse(again.viewer.serverTime)).toBeGreaterThanOrEqual(Date.parse(serverTime));
  expect((await show(await appOf({ quoteId: quote.id }), 'quote', { quoteId: quote.id })).quote.id).toBe(quote.id);

  expect((await show(app, 'cancel-quote', { input: { quoteId: quote.id } })).cancelQuote).toMatchObject({
    quote: { id: quote.id, status: 'EXPIRED' },
  });
  const { executeQuote } = await show(app, 'execute-quote', { input: { quoteId: quote.id } });
  expect(executeQuote).toMatchObject({ __typename: 'QuoteExpiredError', code: 'QUOTE_EXPIRED', expiredAt: time });
});

test('quote with countdown: refusals say what is missing, in readable words and amounts', async () => {
  const { createQuote } = await show(app, 'create-quote', {
    input: usdToEur(scene, { lockedCurrencyAmount: { units: 9_000_000 } }),
  });
  const refused = await show(app, 'execute-quote', { input: { quoteId: createQuote.quote.id }, locale: 'en-US' });
  expect(refused.executeQuote).toMatchObject({
    __typename: 'InsufficientFundsError',
    code: 'INSUFFICIENT_BALANCE',
    required: { formatted: '$90,000.00' },
    available: { formatted: expect.stringMatching(/^\$9,9\d\d\.\d\d$/) },
  });
  const tooSmall = await show(app, 'create-quote', { input: usdToEur(scene, { lockedCurrencyAmount: { units: 0 } }) });
  expect(tooSmall.createQuote).toMatchObject({
    fields: [{ path: ['input', 'lockedCurrencyAmount', 'units'], code: text1, message: text1 }],
  });
});

test('pay in: each way to fund a quote from outside the platform, with the details that the payer needs', async () => {
  const source = { realtimeFunding: { customerId: scene.customerId, currency: 'USD' } };
  const { createQuote } = await show(app, 'create-quote', { input: usdToEur(scene, { source }) });
  expect(createQuote.quote.paymentInstructions).toContainEqual({
    __typename: 'UsAccountInstruction',
    accountType: 'US_ACCOUNT',
    reference: text1,
  });
  const { quote } = await show(app, 'pay-in', { quoteId: createQuote.quote.id });
  expect(quote.paymentInstructions).toContainEqual(
    expect.objectContaining({ accountType: 'US_ACCOUNT', accountNumber: text1, routingNumber: text1, bankName: text1 }),
  );
});

test('receipt: parties, amounts, rate, fees and progress, and where the money is after a failure', async () => {
  const id = await payQuote(app, { description: 'for the boat' });
  const { transaction, viewer } = await show(app, 'receipt', { transactionId: id });
  expect(viewer).toMatchObject({ serverTime: time, feedCursor: cursor });
  expect(transaction).toMatchObject({
    id,
    type: 'OUTGOING',
    status: 'COMPLETED',
    terminal: true,
    failureReason: null,
    description: 'for the boat',
    reconciliationReference: text1,
    settledAt: time,
    sentAmount: { amount: '1000', formatted: '$10.00' },
    receivedAmount: { formatted: expect.stringMatching(/^€/) },
    fees: { formatted: expect.stringMatching(/^\$/) },
    exchangeRate: expect.stringMatching(/^\d/),
    source: { __typename: 'AccountSource', displayName: 'USD account', maskedNumber: masked },
    destination: { __typename: 'AccountDestination', displayName: 'Grace Hopper', maskedNumber: masked },
    refund: null,
    quote: { status: 'COMPLETED' },
  });
  expect(transaction.timeline.map(({ status }: Data) => status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);

  const refusing = await t.platform.externalAccount(scene.customerId, 'USD', usAccount('7654321004'));
  const failed = await t.platform.pay({ ...scene, outsideUsd: refusing }, 700);
  await t.platform.ended(failed.id);
  const onlyThis = await appOf({ transactionId: failed.id }, ['VIEW']);
  expect((await show(app, 'receipt', { transactionId: failed.id })).transaction).toMatchObject({
    status: 'FAILED',
    failureReason: 'QUOTE_EXECUTION_FAILED',
    refund: { amount: { formatted: '$7.00' }, settledAt: time },
  });
  expect((await show(onlyThis, 'receipt', { transactionId: failed.id })).transaction).toMatchObject({
    status: 'FAILED',
    destination: { displayName: text1, maskedNumber: null },
  });
});

test('history: payments are filtered, sorted by creation or last change, and paged through with cursors', async () => {
  for (let made = 0; made < 2; made += 1) await payQuote(app);
  const whole = (await show(app, 'history', { first: 100 })).transactions;
  expect(whole.totalCount).toBe(whole.edges.length);
  const page = (await show(app, 'history', { first: 2 })).transactions;
  const next = (await show(app, 'history', { first: 98, after: page.pageInfo.endCursor })).transactions;
  expect([...page.edges, ...next.edges]).toEqual(whole.edges);
  const filter = {
    executed: true,
    type: ['OUTGOING'],
    status: ['COMPLETED'],
    amount: { currency: 'USD', min: '1000', max: '1000' },
    accountId: scene.outsideEur,
    createdAfter: start,
  };
  const found = (await show(app, 'history', { filter, orderBy: 'UPDATED' })).transactions;
  expect(found.totalCount).toBeGreaterThanOrEqual(2);
  for (const payment of nodes(found)) {
    expect(payment).toMatchObject({ type: 'OUTGOING', status: 'COMPLETED', sentAmount: { formatted: '$10.00' } });
    expect(payment.destination).toMatchObject({ displayName: 'Grace Hopper', maskedNumber: masked });
  }
  const times = nodes(found).map(({ updatedAt }) => updatedAt);
  expect(times).toEqual(times.toSorted().toReversed());
});

test('statement: the entries add up to the difference between the opening and closing balances, and have readable names', async () => {
  await t.platform.fund(scene.usd, 555n);
  const period = { accountId: scene.usd, from: start, to: new Date(Date.parse(await now()) + 1).toISOString() };
  const { account } = await show(app, 'statement', { ...period, first: 100 });
  expect(account).toMatchObject({ displayName: 'USD account', maskedNumber: masked, currency: { code: 'USD' } });
  const entries = nodes(account.ledgerEntries);
  const { openingBalance, closingBalance, credits, debits } = account.statement;
  const sum = entries.reduce((total, { amount }) => total + BigInt(amount.amount), BigInt(openingBalance.amount));
  expect(sum).toBe(BigInt(closingBalance.amount));
  expect(credits.count + debits.count).toBe(entries.length);
  expect(entries[0]).toMatchObject({
    kind: 'DEPOSIT',
    amount: { formatted: '$5.55' },
    balanceAfter: { formatted: closingBalance.formatted },
  });
  expect(entries.find(({ kind }) => kind === 'DEBIT').transaction).toMatchObject({
    type: 'OUTGOING',
    destination: { displayName: text1 },
  });
  const page = (await show(app, 'statement', { ...period, first: 1 })).account.ledgerEntries;
  const next = (await show(app, 'statement', { ...period, first: 1, after: page.pageInfo.endCursor })).account
    .ledgerEntries;
  expect([...page.edges, ...next.edges]).toEqual(account.ledgerEntries.edges.slice(0, 2));
});

test('support view: a platform finds the customer and sees what happened to each payment, its funds and its webhooks', async () => {
  const receiver = await ownReceiver(answer(500));
  const endpoint = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const id = await payQuote(app);
  await endpointUntil(t.platform, endpoint.id, ({ deliveries }) =>
    deliveries.some(({ event, attempts }: Data) => event.type === 'OUTGOING_PAYMENT' && attempts.length > 0),
  );
  const { reconciliationReference } = (await show(app, 'receipt', { transactionId: id })).transaction;
  const search = await show(t.platform, 'support-search', {
    customer: { name: 'grace' },
    payment: { reference: reconciliationReference },
  });
  expect(nodes(search.customers)).toContainEqual(
    expect.objectContaining({ id: scene.customerId, name: 'Grace Hopper', kycStatus: 'APPROVED' }),
  );
  expect(nodes(search.transactions)).toMatchObject([
    { id, customer: { id: scene.customerId, name: 'Grace Hopper' }, sentAmount: { formatted: '$10.00' } },
  ]);

  const view = await show(t.platform, 'support-view', { customerId: scene.customerId, first: 30 });
  expect(view.customer).toMatchObject({ id: scene.customerId, umaAddress: text1, isDeleted: false });
  expect(nodes(view.customer.accounts).find((account) => account.id === scene.outsideEur)).toMatchObject({
    __typename: 'ExternalAccount',
    status: 'ACTIVE',
    maskedNumber: masked,
    accountInfo: { accountType: 'IBAN' },
  });
  const payment = nodes(view.customer.transactions).find((one) => one.id === id);
  expect(payment.timeline.map(({ status }: Data) => status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(payment.ledgerEntries.map(({ kind }: Data) => kind)).toEqual(expect.arrayContaining(['DEBIT', 'DELIVERY']));
  expect(nodes(view.customer.transactions).some(({ status, quote }) => status === 'PENDING' && quote)).toBe(true);
  const completed = view.customer.transactionTotals.filter(({ status }: Data) => status === 'COMPLETED');
  expect(completed.length).toBeGreaterThan(0);
  expect(nodes(view.webhookEndpoints)[0]).toMatchObject({ id: endpoint.id, failingSince: time });
  // Later deliveries may not have been attempted yet.
  expect(nodes(nodes(view.webhookEndpoints)[0].deliveries)).toContainEqual(
    expect.objectContaining({ status: 'PENDING', attempts: [expect.objectContaining({ responseStatus: 500 })] }),
  );

  const another = await t.platform.newCustomer();
  expect(
    (await show(await appOf({ customerId: another }), 'support-view', { customerId: scene.customerId })).customer,
  ).toBe(null);
});

test('every operation was sent in this file, and an app may request pages of the maximum size', async () => {
  expect([...shown].toSorted()).toEqual(files.toSorted());
  const most: Readonly<Record<string, object>> = {
    home: { recent: 100 },
    'payee-picker': { first: 100 },
    history: { first: 100 },
    statement: { first: 100, accountId: scene.usd, from: start, to: await now() },
  };
  for (const [name, variables] of Object.entries(most)) await show(app, name, variables);
  // The support view's pages are smaller, because it also shows each payment's history, counts and sums.
  await show(t.platform, 'support-view', { first: 30, customerId: scene.customerId });
});
