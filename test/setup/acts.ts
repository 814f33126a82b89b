import { expect } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { mutationDocument, mutationName, mutationVariables } from './documents.ts';
import type { Data, TestPlatform } from './gateway.ts';
import type { Scene } from './scene.ts';

/** The fields of a transaction that tests examine. */
export const transactionFields = `
  id status type failureReason sentAmount { amount } receivedAmount { amount currency { code } }
  source { __typename ... on AccountSource { accountId } ... on UmaSource { umaAddress } }
  destination { __typename ... on AccountDestination { accountId } ... on UmaDestination { umaAddress } }
  refund { reference amount { amount } initiatedAt settledAt } counterpartyInformation { name value } customer { id } quote { status }
  timeline { status reason } ledgerEntries { amount { amount currency { code } } account { id } system }
  expectedSettlementAt settledAt description requestedReceiverInformation { name mandatory } approvalDueAt reconciliationReference`;

/** Runs a mutation and returns its result: the success with `selection`, or the refusal. */
export async function act(platform: TestPlatform, name: Operation, input: object, selection = ''): Promise<Data> {
  return (await platform.ask(mutationDocument(name, selection), mutationVariables(name, input)))[name];
}

/** Runs a mutation that must succeed, and returns its success with `selection`. */
export async function succeed(platform: TestPlatform, name: Operation, input: object, selection = ''): Promise<Data> {
  const result = await act(platform, name, input, selection);
  if (!result.__typename.endsWith('Success')) throw new Error(`${name}: ${result.code}: ${result.message}`);
  return result;
}

/** Returns the expected members of a refusal: its code, and the path in the input. */
export const refusal = (code: string, ...path: readonly (string | number)[]) => ({ code, path: ['input', ...path] });

/** Runs a mutation that returns a transaction. */
export async function actOn(platform: TestPlatform, name: Operation, input: object): Promise<Data> {
  const shown = 'id status failureReason approvalDueAt requestedReceiverInformation { name mandatory }';
  return act(platform, name, input, `transaction { ${shown} }`);
}

/** Pays from the scene's internal account to its external one, in USD (smallest units), and returns the transaction. */
export async function pay(
  platform: TestPlatform,
  { usd, outsideUsd }: Scene,
  amount = 100,
  rest: object = {},
): Promise<Data> {
  const input = moving(usd, outsideUsd, amount, rest);
  return (await succeed(platform, 'transferOut', input, 'transaction { id status }')).transaction;
}

/** Builds the input of a transfer between two accounts (smallest units). */
export function moving(sourceAccountId: string, destinationAccountId: string, amount: number | bigint, rest = {}) {
  return { sourceAccountId, destinationAccountId, amount: { units: amount }, ...rest };
}

/** Transfers USD (smallest units) out of or into the scene's internal account. Returns the result or the refusal. */
export async function transfer(
  platform: TestPlatform,
  way: 'transferIn' | 'transferOut',
  { usd, outsideUsd }: Scene,
  amount: number | bigint,
  rest: object = {},
): Promise<Data> {
  const [from, to] = way === 'transferIn' ? [outsideUsd, usd] : [usd, outsideUsd];
  const made = await actOn(platform, way, moving(from, to, amount, rest));
  return made.transaction ?? made;
}

/** Transfers USD (smallest units) in from the scene's external account, and waits until they arrive. */
export async function bringIn(platform: TestPlatform, scene: Scene, amount: number | bigint): Promise<void> {
  const { id } = await transfer(platform, 'transferIn', scene, amount);
  expect(await ended(platform, id)).toMatchObject({ status: 'COMPLETED' });
}

/** Pays USD (smallest units) to the scene's external account, waits until they arrive, and returns the payment's id. */
export async function payOut(platform: TestPlatform, scene: Scene, amount: number | bigint): Promise<string> {
  const { id } = await transfer(platform, 'transferOut', scene, amount);
  expect(await ended(platform, id)).toMatchObject({ status: 'COMPLETED' });
  return id;
}

/** Announces a UMA payment in USD (smallest units) to a customer. Returns the payment or the refusal. */
export async function announce(
  platform: TestPlatform,
  customerId: string,
  amount: number,
  rest: object = {},
): Promise<Data> {
  const made = await actOn(platform, 'sandboxReceiveUma', {
    ...{ senderUmaAddress: '$success.usd@sandbox.uma.money', receiver: { customerId }, currency: 'USD', amount },
    ...rest,
  });
  return made.transaction ?? made;
}

/** Builds the input of a quote that sends `amount` (smallest units), unless `rest` says otherwise. */
export function between(from: string, to: string, amount: number | bigint, rest: object = {}): object {
  return {
    source: { account: { accountId: from } },
    destination: { account: { accountId: to } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: { units: amount },
    ...rest,
  };
}

/** Builds the input of a quote of 10 dollars to the scene's external EUR account, unless `rest` says otherwise. */
export const usdToEur = ({ usd, outsideEur }: Scene, rest?: object) => between(usd, outsideEur, 1_000, rest);

/** Builds the input of a quote to the EUR account that the customer funds in this currency (smallest units). */
export function fundedIn(
  currency: string,
  { customerId, outsideEur }: Scene,
  amount: number,
  rest: object = {},
): object {
  return between('', outsideEur, amount, { source: { realtimeFunding: { customerId, currency } }, ...rest });
}

/** Builds the input of a client token from other fields and the id of the object to which the token is bound. */
export function tokenInput(input: object): object {
  const { customerId, quoteId, transactionId, ...rest }: Record<'customerId' | 'quoteId' | 'transactionId', unknown> = {
    customerId: undefined,
    quoteId: undefined,
    transactionId: undefined,
    ...input,
  };
  return { boundTo: { customerId, quoteId, transactionId }, ...rest };
}

/** Creates a client token, and returns it with its id and its expiry. */
export async function mint(platform: TestPlatform, input: object): Promise<Data> {
  return succeed(platform, 'createClientToken', tokenInput(input), 'token tokenId expiresAt');
}

/** Creates a quote and returns it, or the refusal. */
export async function quote(platform: TestPlatform, input: object): Promise<Data> {
  const selection =
    'quote { id status totalSendingAmount { amount } totalReceivingAmount { amount } feesIncluded { amount } transaction { id } }';
  const made = await act(platform, 'createQuote', { lockedCurrencySide: 'SENDING', ...input }, selection);
  return made.quote ?? made;
}

export async function execute(platform: TestPlatform, quoteId: string, rest: object = {}): Promise<Data> {
  return act(platform, 'executeQuote', { quoteId, ...rest }, 'quote { id status }');
}

/** Reads fields of the object with this id, through a field of the query. */
export async function fieldsOf(platform: TestPlatform, field: Getter, id: string, fields: string): Promise<Data> {
  return (await platform.ask(`query ($id: ID!) { ${field}(id: $id) { ${fields} } }`, { id }))[field];
}

/** Reads fields of the rows in one of the platform's lists that match a filter, at most 100. */
export async function listed(platform: TestPlatform, list: List, filter: object, fields: string): Promise<Data[]> {
  const type = `${list.charAt(0).toUpperCase()}${list.slice(1, -1)}Filter`;
  const query = `query ($filter: ${type}) { ${list}(first: 100, filter: $filter) { edges { node { ${fields} } } } }`;
  return (await platform.ask(query, { filter }))[list].edges.map(({ node }: Data) => node);
}

/** Reads the ids of the rows in one of the platform's lists that match a filter. */
export const idsIn = async (platform: TestPlatform, list: List, filter: object): Promise<string[]> =>
  (await listed(platform, list, filter, 'id')).map(({ id }) => id);

type List = 'accounts' | 'apiTokens' | 'clientTokens' | 'customers' | 'fundingRequests' | 'quotes' | 'transactions';

type Getter = 'account' | 'customer' | 'node' | 'quote' | 'transaction';

/** Reads a transaction with all its details. */
export const transactionOf = (platform: TestPlatform, id: string): Promise<Data> =>
  fieldsOf(platform, 'transaction', id, transactionFields);

/** Builds the expected timeline of a transaction that went through these statuses. */
export const went = (...statuses: readonly string[]) => statuses.map((status) => ({ status }));

/** Returns the sum of a transaction's entries on a system account, in smallest units. */
export function left(transaction: Data, system: string): bigint {
  return transaction.ledgerEntries
    .filter((entry: Data) => entry.system === system)
    .reduce((sum: bigint, entry: Data) => sum + BigInt(entry.amount.amount), 0n);
}

/** Returns the amounts by which a transaction's entries change an account, in smallest units. */
export const onAccount = ({ ledgerEntries }: Data, id: string): bigint[] =>
  ledgerEntries.filter(({ account }: Data) => account?.id === id).map(({ amount }: Data) => BigInt(amount.amount));

/** Returns the values of a subscription to one field, until it ends or the last wanted value has arrived. */
export async function followed(
  platform: TestPlatform,
  query: string,
  variables: object,
  isLast: (value: Data) => boolean = () => false,
): Promise<Data[]> {
  const values: Data[] = [];
  for await (const { data, errors } of platform.watch(query, variables)) {
    if (errors) throw new Error(JSON.stringify(errors));
    const [value] = Object.values<Data>(data);
    values.push(value);
    if (isLast(value)) break;
  }
  return values;
}

/** Waits until a transaction ends, and returns its statuses from now on. */
export async function statusesOf(platform: TestPlatform, id: string): Promise<string[]> {
  const updates = 'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { status } }';
  return (await followed(platform, updates, { id })).map(({ status }) => status);
}

/** Waits until a transaction has this status, even if the status is reached only after the transaction has ended. */
export async function untilStatus(platform: TestPlatform, id: string, status: string): Promise<void> {
  const updates = 'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }, until: FINAL) { status } }';
  await followed(platform, updates, { id }, (update) => update.status === status);
}

/** Waits until a transaction has ended, and returns it. */
export async function ended(platform: TestPlatform, id: string): Promise<Data> {
  const updates = 'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { terminal } }';
  await followed(platform, updates, { id }, ({ terminal }) => terminal);
  return transactionOf(platform, id);
}

/** Waits until one of the platform's transactions meets the test's condition, and returns that transaction. */
export async function seen(
  platform: TestPlatform,
  after: string,
  wants: (transaction: Data) => boolean,
): Promise<Data> {
  const updates =
    'subscription ($after: String) { transactionUpdates(after: $after) { transaction { id status type customer { id } } } }';
  const all = await followed(platform, updates, { after }, ({ transaction }) => wants(transaction));
  return transactionOf(platform, all.at(-1)?.transaction.id);
}

/** Sets the status of an external account as the operator of the sandbox. Returns the success, or the refusal. */
export const setAccountStatus = (platform: TestPlatform, accountId: string, input: object): Promise<Data> =>
  act(platform, 'sandboxSetExternalAccountStatus', { accountId, ...input }, 'account { id status version }');

/** Returns what is stored under an idempotency key: the outcome of the mutation, its code and its result. */
export async function receiptOf(platform: TestPlatform, name: Operation, key: string): Promise<Data> {
  const text = `query ($operation: MutationName!, $key: String!) {
    mutationReceipt(operation: $operation, idempotencyKey: $key) { outcome code result { id } } }`;
  return (await platform.ask(text, { operation: mutationName(name), key })).mutationReceipt;
}

/** Returns the current end of the platform's feed. */
export async function feedEnd(platform: TestPlatform): Promise<string> {
  return (await platform.ask('{ viewer { feedCursor } }')).viewer.feedCursor;
}

/** Looks up a receiver and returns the lookup, or the refusal. */
export async function lookUp(platform: TestPlatform, umaAddress: string, rest: object = {}): Promise<Data> {
  const made = await act(
    platform,
    'lookUpReceiver',
    { umaAddress, ...rest },
    'lookup { id umaAddress vaspName network expiresAt createdAt supportedCurrencies { currency { code name symbol decimals } estimatedExchangeRate minAmount { amount } maxAmount { amount } } requiredPayerFields { name mandatory } }',
  );
  return made.lookup ?? made;
}

/** The sender information that tests provide. */
export const sender = [
  { name: 'FULL_NAME', value: 'Grace Hopper' },
  { name: 'BIRTH_DATE', value: '1986-12-09' },
];

/** Looks up a UMA address, and creates a quote from an account to it. */
export async function umaQuote(
  platform: TestPlatform,
  from: string,
  umaAddress: string,
  rest: object = {},
): Promise<Data> {
  const lookup = await lookUp(platform, umaAddress);
  if (!lookup.id) throw new Error(JSON.stringify(lookup));
  return quote(platform, {
    source: { account: { accountId: from } },
    destination: { uma: { umaAddress, currency: 'USD' } },
    lookupId: lookup.id,
    lockedCurrencyAmount: 10_000,
    senderCustomerInfo: sender,
    ...rest,
  });
}

/** Returns the UMA address of a customer. */
export async function umaAddressOf(platform: TestPlatform, customerId: string): Promise<string> {
  return (await fieldsOf(platform, 'customer', customerId, 'umaAddress')).umaAddress;
}

/** Sends 100 dollars to a customer's UMA address. Returns the quote, and the receiver's payment with this status. */
export async function payByUma(platform: TestPlatform, from: string, customerId: string, status = 'PENDING') {
  const after = await feedEnd(platform);
  const made = await umaQuote(platform, from, await umaAddressOf(platform, customerId));
  await execute(platform, made.id);
  const incoming = await seen(platform, after, (one) => one.type === 'INCOMING' && one.status === status);
  return { made, incoming };
}
