import { GraphQLError } from 'graphql';
import { webhookText } from '../../src/api/webhooks/delivery/bodies.ts';
import { webhookTypes } from '../../src/api/webhooks/webhooks.ts';
import type { AccountField } from '../../src/core/account-fields.ts';
import { type AccountType, accountTypes } from '../../src/core/account-types.ts';
import { currencies, currencyOf, formatDecimal, formatMoney } from '../../src/core/currencies.ts';
import { accountPublicId, publicId, uuidOf } from '../../src/core/ids.ts';
import { Refusal } from '../../src/core/refusal.ts';
import { operations } from '../../src/domain/access/operations.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { displayName, maskedNumber } from '../../src/domain/accounts/account-names.ts';
import type { Payments } from '../../src/domain/commands/command.ts';
import { feedCursor, feedStart, positionOf } from '../../src/domain/events/cursor.ts';
import { deliveryRails } from '../../src/domain/pricing/delivery-rails.ts';
import { readExchangeRates } from '../../src/domain/pricing/exchange-rates.ts';
import {
  type Account,
  type ClientToken,
  type Customer,
  type Event,
  type Journal,
  type Lookup,
  type Platform,
  type Policy,
  type Posting,
  type Prisma,
  type Quote,
  type Transaction,
  TransactionStatus,
  type WebhookDelivery,
  type WebhookEndpoint,
} from '../../src/infra/database/generated/client/client.ts';
import { rowFromSnapshot, type SnapshotRows } from '../../src/infra/database/rows.ts';
import { cursors } from '../setup/cursors.ts';
import { mutationName } from '../setup/documents.ts';
import type { Data } from '../setup/gateway.ts';
import {
  accountsWanted,
  appsWanted,
  customersWanted,
  deliveriesWanted,
  eventsWanted,
  quotesWanted,
  tokensWanted,
  transactionsWanted,
} from './filters.ts';
import { changeCursors, entryCursors, idCursors, invalidInput, pageOf } from './paging.ts';
import type { PlainReads } from './reads.ts';
import type { PlainViewer } from './viewer.ts';
import {
  accountsSeenBy,
  appsSeenBy,
  customersSeenBy,
  endpointsSeenBy,
  eventsSeenBy,
  lookupsSeenBy,
  policiesSeenBy,
  quotesSeenBy,
  tokensSeenBy,
  transactionsSeenBy,
} from './visibility.ts';

/** What every resolver of the oracle is given. */
export interface Asking {
  readonly viewer: PlainViewer;
  readonly reads: PlainReads;
  readonly payments: Payments;
}

/** A type of account, as a form requires it. */
type AccountForm = AccountType & { readonly accountType: string };

type Resolver<Row> = (row: Row, args: Data, asking: Asking) => unknown;

/** The resolvers of a type's fields. A field without one is the property of its name. */
type Fields<Row> = Readonly<Record<string, Resolver<Row>>>;

const fieldsOf = <Row>(fields: Fields<Row>) => fields;

/** Marks an object with its type, for interfaces and unions. */
function typed<Row extends object>(__typename: string, row: Row | undefined | null) {
  return row ? { ...row, __typename } : null;
}

const typedAccount = (row: Account | undefined) =>
  typed(row?.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', row);

// One row that the caller may see, by its id; null where there is none.

async function transactionSeen(id: string | null, { viewer, reads }: Asking) {
  if (id === null) return null;
  return typed('Transaction', (await reads.transactions({ AND: [{ id }, transactionsSeenBy(viewer)] }))[0]);
}

async function quoteSeen(id: string | null, { viewer, reads }: Asking) {
  if (id === null) return null;
  return typed('Quote', (await reads.quotes({ AND: [{ id }, quotesSeenBy(viewer)] }))[0]);
}

async function customerSeen(id: string | null, { viewer, reads }: Asking) {
  if (id === null) return null;
  return typed('Customer', (await reads.customers({ AND: [{ id }, customersSeenBy(viewer)] }))[0]);
}

async function accountSeen(id: string | null, { viewer, reads }: Asking, kind?: Account['kind']) {
  if (id === null) return null;
  const where = { AND: [{ id }, kind ? { kind } : {}, accountsSeenBy(viewer)] };
  return typedAccount((await reads.accounts(where))[0]);
}

/** The policy of a row, where the caller may see it. */
const policyOf = async ({ id }: { readonly id: string }, _args: Data, { viewer, reads }: Asking) =>
  (await reads.policies({ AND: [{ subjectId: id }, policiesSeenBy(viewer)] }))[0] ?? null;

/** The hours that the zone of all policies here is ahead of UTC, all year. */
const aheadMs: Readonly<Record<string, number>> = { UTC: 0, 'Asia/Tokyo': 9 * 3_600_000 };
const dayMs = 86_400_000;

/** The ends of the window of a limit that is now; null for one of each payment. */
function windowOf(period: string, zone: string): { readonly from: number; readonly to: number | null } | null {
  const now = Date.now();
  const ahead = aheadMs[zone] ?? Number.NaN;
  const local = new Date(now + ahead);
  const month = (more: number) => Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + more) - ahead;
  const day = Math.floor((now + ahead) / dayMs) * dayMs - ahead;
  if (period === 'DAY') return { from: day, to: day + dayMs };
  if (period === 'MONTH') return { from: month(0), to: month(1) };
  if (period === 'PAYMENT') return null;
  return { from: now - (period === 'LAST_24_HOURS' ? 1 : 30) * dayMs + 1, to: null };
}

/** The limits of a policy, with what is used and left of each. */
async function limitsOf({ platformId, id, limits, timeZone }: Policy, _args: Data, { reads }: Asking) {
  const uses = await reads.policyUses({ platformId, policyId: id, releasedAt: null });
  return (limits as Data[]).map(({ period, currency = null, amount = null, payments = null }) => {
    const window = windowOf(period, timeZone);
    const counted = uses.filter(
      (use) => window && use.usedAt.getTime() >= window.from && (currency === null || use.currency === currency),
    );
    const sum = counted.reduce((all, use) => all + use.amount, 0n);
    const lasts = (period === 'LAST_24_HOURS' ? 1 : 30) * dayMs;
    const [oldest] = counted;
    return {
      ...{ period, payments },
      amount: currency && money(BigInt(amount), currency),
      usedAmount: currency && money(sum, currency),
      leftAmount: currency && money(BigInt(amount) - sum, currency),
      usedPayments: currency ? null : counted.length,
      leftPayments: currency ? null : payments - counted.length,
      renewsAt: oldest && window ? new Date(window.to ?? oldest.usedAt.getTime() + lasts) : null,
    };
  });
}

/** What is behind a public id of any type. */
const nodeSeen: Readonly<Record<string, (uuid: string, asking: Asking) => Promise<object | null>>> = {
  Transaction: transactionSeen,
  Quote: quoteSeen,
  Customer: customerSeen,
  InternalAccount: (id, asking) => accountSeen(id, asking, 'INTERNAL'),
  ExternalAccount: (id, asking) => accountSeen(id, asking, 'EXTERNAL'),
  Lookup: async (id, { viewer, reads }) =>
    typed('Lookup', (await reads.lookups({ AND: [{ id }, lookupsSeenBy(viewer)] }))[0]),
  ApiToken: async (id, { viewer, reads }) =>
    typed('ApiToken', (await reads.apiTokens({ AND: [{ id }, tokensSeenBy(viewer)] }))[0]),
  ClientToken: async (id, { viewer, reads }) =>
    typed('ClientToken', (await reads.clientTokens({ AND: [{ id }, appsSeenBy(viewer)] }))[0]),
  Policy: async (id, { viewer, reads }) =>
    typed('Policy', (await reads.policies({ AND: [{ id }, policiesSeenBy(viewer)] }))[0]),
  WebhookEndpoint: async (id, { viewer, reads }) =>
    typed('WebhookEndpoint', (await reads.endpoints({ AND: [{ id }, endpointsSeenBy(viewer)] }))[0]),
  WebhookDelivery: async (id, { viewer, reads }) =>
    typed('WebhookDelivery', (await reads.deliveries({ AND: [{ id }, { endpoint: endpointsSeenBy(viewer) }] }))[0]),
  Event: async (id, { viewer, reads }) =>
    typed('Event', (await reads.events({ AND: [{ id }, eventsSeenBy(viewer)] }))[0]),
  Platform: async (id, { viewer, reads }) =>
    id === viewer.platformId ? typed('Platform', (await reads.platforms({ id }))[0]) : null,
};

async function node(id: string, asking: Asking, types: readonly string[] = Object.keys(nodeSeen)) {
  for (const type of types) {
    const uuid = uuidOf(id, type as Parameters<typeof uuidOf>[1]);
    if (uuid !== undefined) return nodeSeen[type]?.(uuid, asking) ?? null;
  }
  return null;
}

// Lists: all rows that match, oldest first, of which a page is cut.

function connection<Row extends { id: string }>(
  list: string,
  oldestFirst: readonly Row[],
  args: Data,
  { viewer }: Asking,
) {
  const order = args.sortOrder ?? 'DESC';
  const rows = order === 'ASC' ? oldestFirst : oldestFirst.toReversed();
  return pageOf(rows, args, order, idCursors(list, viewer.platformId));
}

/** A list that can be ordered by the last change of its rows, too. */
function orderedConnection<Row extends { id: string; updatedAt: Date }>(
  list: string,
  oldestFirst: readonly Row[],
  args: Data,
  asking: Asking,
) {
  if (args.orderBy !== 'UPDATED') return connection(list, oldestFirst, args, asking);
  const order = args.sortOrder ?? 'DESC';
  const cursors = changeCursors(list, asking.viewer.platformId);
  const rows = oldestFirst.toSorted((a, b) => (cursors.keyOf(a) < cursors.keyOf(b) ? -1 : 1));
  return pageOf(order === 'ASC' ? rows : rows.toReversed(), args, order, cursors);
}

async function transactionList(args: Data, asking: Asking, of: Prisma.TransactionWhereInput = {}) {
  const where = { AND: [transactionsSeenBy(asking.viewer), transactionsWanted(args.filter, asking.viewer), of] };
  return orderedConnection('Transaction', await asking.reads.transactions(where), args, asking);
}

async function quoteList(args: Data, asking: Asking, of: Prisma.QuoteWhereInput = {}) {
  const where = { AND: [quotesSeenBy(asking.viewer), quotesWanted(args.filter, asking.viewer), of] };
  return connection('Quote', await asking.reads.quotes(where), args, asking);
}

async function accountList(args: Data, asking: Asking, of: Prisma.AccountWhereInput = {}) {
  const where = { AND: [accountsSeenBy(asking.viewer), accountsWanted(args.filter), of] };
  const rows = await asking.reads.accounts(where);
  return connection(
    'Account',
    rows.map((row) => ({ ...row, ...typedAccount(row) })),
    args,
    asking,
  );
}

async function customerList(args: Data, asking: Asking) {
  const where = { AND: [customersSeenBy(asking.viewer), customersWanted(args.filter)] };
  return orderedConnection('Customer', await asking.reads.customers(where), args, asking);
}

async function eventList(args: Data, asking: Asking) {
  const { viewer, reads } = asking;
  const rows = await reads.events({ AND: [eventsSeenBy(viewer), eventsWanted(args.filter, viewer)] });
  return pageOf(rows, args, 'ASC', {
    keyOf: (row) => row.sequence,
    cursorOf: (row) => feedCursor(cursors, row.platformId, row),
    read: (cursor) => positionOf(cursors, viewer.platformId, cursor)?.sequence,
  });
}

/** How many payments a filter finds and how much they are on their customer's side, by status, direction and currency. */
async function totals(args: Data, { viewer, reads }: Asking, of: Prisma.TransactionWhereInput = {}) {
  const rows = await reads.transactions({
    AND: [transactionsSeenBy(viewer), transactionsWanted(args.filter, viewer), of],
  });
  const groups = new Map<string, { status: string; type: string; code: string; count: number; amount: bigint }>();
  for (const { status, type, ...row } of rows) {
    const isOut = type === 'OUTGOING';
    const code = (isOut ? row.sentCurrency : null) ?? row.receivedCurrency;
    const key = [statusOrder.indexOf(status), type === 'INCOMING' ? 0 : 1, code].join(' ');
    const group = groups.get(key) ?? { status, type, code, count: 0, amount: 0n };
    group.count += 1;
    group.amount += (isOut ? row.sentAmount : null) ?? row.receivedAmount ?? 0n;
    groups.set(key, group);
  }
  return [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { code, amount, ...group }]) => ({ ...group, amount: money(amount, code) }));
}

/** The statuses in the order of the database's enum. */
const statusOrder = Object.values(TransactionStatus) as string[];

const onEitherSide = (id: string) => ({ OR: [{ sourceAccountId: id }, { destinationAccountId: id }] });

/** A posting on an account, with what its journal says. */
type Entry = Posting & { readonly journal: Journal };

/** The postings on an account in the order of its versions, within a period. */
async function entriesOf({ platformId, id }: Account, { from, to }: Data, { reads }: Asking): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const posting of await reads.postingsOn({ platformId, accountId: id })) {
    const [journal] = await reads.journals({ platformId, id: posting.journalId });
    if (journal && (!from || journal.createdAt >= from) && (!to || journal.createdAt < to)) {
      entries.push({ ...posting, journal });
    }
  }
  return entries;
}

function checkPeriod({ from, to }: Data): void {
  if (from && to && to < from) throw invalidInput('the period ends before it begins');
}

const balanceAt = async (account: Account, to: Date, asking: Asking) =>
  (await entriesOf(account, { to }, asking)).at(-1)?.balanceAfter ?? 0n;

async function statement(account: Account, { from, to }: Data, asking: Asking) {
  checkPeriod({ from, to });
  const entries = await entriesOf(account, { from, to }, asking);
  const sum = (some: readonly Entry[], sign: bigint) => ({
    count: some.length,
    amount: money(sign * some.reduce((all, { amount }) => all + amount, 0n), account.currency),
  });
  return {
    from,
    to,
    openingBalance: money(await balanceAt(account, from, asking), account.currency),
    closingBalance: money(await balanceAt(account, to, asking), account.currency),
    credits: sum(
      entries.filter(({ amount }) => amount > 0n),
      1n,
    ),
    debits: sum(
      entries.filter(({ amount }) => amount < 0n),
      -1n,
    ),
  };
}

async function ledgerEntryList(account: Account, args: Data, asking: Asking) {
  checkPeriod(args);
  const order = args.sortOrder ?? 'DESC';
  const entries = await entriesOf(account, args, asking);
  const rows = order === 'ASC' ? entries : entries.toReversed();
  return pageOf(rows, args, order, entryCursors(asking.viewer.platformId));
}

// Values.

const money = (amount: bigint, code: string) => ({ amount, currency: currencyOf(code) });

const moneyIfKnown = (amount: bigint | null, code: string | null) =>
  amount === null || code === null ? null : money(amount, code);

const rateDetailsOf = (details: Data, sending: string | null, receiving: string) =>
  details && {
    ...details,
    counterpartyFixedFee: money(BigInt(details.counterpartyFixedFee), receiving),
    serviceApiFixedFee: money(BigInt(details.serviceApiFixedFee), sending ?? ''),
    serviceApiVariableFeeAmount: money(BigInt(details.serviceApiVariableFeeAmount), sending ?? ''),
  };

/** A list of names and values from a JSON object of them. */
/** What was noted on a row, ordered by key. */
const notedOn = ({ metadata }: { readonly metadata: unknown }) =>
  Object.entries(Object(metadata))
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

const fieldsIn = (json: unknown) => Object.entries(Object(json)).map(([name, value]) => ({ name, value }));

interface Payment {
  readonly platformId: string;
  readonly customerId: string | null;
  readonly sourceKind: string | null;
  readonly sourceAccountId: string | null;
  readonly destinationKind: string;
  readonly destinationAccountId: string | null;
  readonly destinationUmaAddress: string | null;
}

/** What a transaction has stored of its parties. */
type Stored = Pick<
  Transaction,
  'sourceName' | 'sourceNumber' | 'destinationName' | 'destinationNumber' | 'counterpartyInformation'
>;

const umaParty = (__typename: string, umaAddress: string | null, code: string, stored: Stored | undefined) => ({
  __typename,
  umaAddress,
  displayName: (stored?.counterpartyInformation as Data)?.FULL_NAME ?? umaAddress,
  maskedNumber: null,
  currency: currencyOf(code),
});

function sourceOf(payment: Payment, umaAddress: string | null, code: string, stored: Stored | undefined) {
  switch (payment.sourceKind) {
    case 'ACCOUNT':
      return {
        __typename: 'AccountSource',
        platformId: payment.platformId,
        uuid: payment.sourceAccountId,
        name: stored?.sourceName,
        number: stored?.sourceNumber,
      };
    case 'UMA_ADDRESS':
      return umaParty('UmaSource', umaAddress, code, stored);
    case 'REALTIME_FUNDING':
      return {
        __typename: 'RealtimeFundingSource',
        customerId: payment.customerId,
        displayName: `${code} deposit`,
        maskedNumber: null,
        currency: currencyOf(code),
      };
    default:
      return null;
  }
}

function destinationOf(payment: Payment, code: string, stored: Stored | undefined) {
  return payment.destinationKind === 'UMA_ADDRESS'
    ? umaParty('UmaDestination', payment.destinationUmaAddress, code, stored)
    : {
        __typename: 'AccountDestination',
        platformId: payment.platformId,
        uuid: payment.destinationAccountId,
        name: stored?.destinationName,
        number: stored?.destinationNumber,
      };
}

/** The transaction of a quote, which has stored the names of its parties. */
async function transactionOfQuote({ platformId, transactionId }: Quote, { reads }: Asking) {
  return (await reads.transactions({ platformId, id: transactionId }))[0];
}

/** An account at an end of a payment: its id is shown to whoever sees the payment, the account itself by its own rule. */
const accountEnd = fieldsOf<{ platformId: string; uuid: string; name: string | null; number: string | null }>({
  async displayName({ platformId, uuid, name }, _args, { reads, viewer }) {
    const [account] = await reads.accounts({ platformId, id: uuid });
    return (viewer.bound.kind === 'PAYMENT' ? null : name) ?? `${account?.currency} account`;
  },
  maskedNumber: async ({ uuid, number }, _args, asking) => ((await accountSeen(uuid, asking)) ? number : null),
  async accountId({ platformId, uuid }, _args, { reads }) {
    const [account] = await reads.accounts({ platformId, id: uuid });
    return account && accountPublicId(account.kind, account.id);
  },
  account: ({ uuid }, _args, asking) => accountSeen(uuid, asking),
  async currency({ platformId, uuid }, _args, { reads }) {
    const [account] = await reads.accounts({ platformId, id: uuid });
    return account && currencyOf(account.currency);
  },
});

/** Whose a row is, as far as the caller may see it. */
async function ownerOf({ customerId }: { readonly customerId: string | null }, _args: Data, asking: Asking) {
  if (customerId === null) return 'PLATFORM';
  return (await customerSeen(customerId, asking)) ? 'CUSTOMER' : 'HIDDEN';
}

const account = fieldsOf<Account>({
  owner: ownerOf,
  displayName,
  maskedNumber,
  id: ({ kind, id }) => accountPublicId(kind, id),
  currency: ({ currency }) => currencyOf(currency),
  customer: ({ customerId }, _args, asking) => customerSeen(customerId, asking),
  transactions: ({ id }, args, asking) => transactionList(args, asking, onEitherSide(id)),
  transactionTotals: ({ id }, args, asking) => totals(args, asking, onEitherSide(id)),
});

const instructionTypes: Readonly<Record<string, string>> = {
  US_ACCOUNT: 'UsAccountInstruction',
  CLABE: 'ClabeInstruction',
  IBAN: 'IbanInstruction',
  NGN_ACCOUNT: 'NgnAccountInstruction',
  PHP_ACCOUNT: 'PhpAccountInstruction',
  CAD_ACCOUNT: 'CadAccountInstruction',
  GBP_ACCOUNT: 'GbpAccountInstruction',
  SGD_ACCOUNT: 'SgdAccountInstruction',
  PIX: 'PixInstruction',
  UPI: 'UpiInstruction',
  LIGHTNING: 'LightningInstruction',
  LAYER2_WALLET: 'Layer2WalletInstruction',
  SOLANA_WALLET: 'SolanaWalletInstruction',
  TRON_WALLET: 'TronWalletInstruction',
  POLYGON_WALLET: 'PolygonWalletInstruction',
  BASE_WALLET: 'BaseWalletInstruction',
};

const instructionsIn = (json: unknown) =>
  (json as Data[]).map((one) => typed(instructionTypes[one.accountType] ?? '', one));

// The feed: the changed object is shown as of the change, the objects that it refers to as of now.

const changedBy: Readonly<Record<Event['type'], keyof SnapshotRows | undefined>> = {
  OUTGOING_PAYMENT: 'Transaction',
  INCOMING_PAYMENT: 'Transaction',
  ACCOUNT_STATUS: 'Account',
  EXTERNAL_ACCOUNT_STATUS: 'Account',
  KYC_STATUS: 'Customer',
  QUOTE_STATUS: 'Quote',
  CUSTOMER_CHANGE: 'Customer',
  ACCOUNT_CHANGE: 'Account',
  WEBHOOK_DELIVERY: 'WebhookDelivery',
  TEST: undefined,
};

function changed(event: Event, model: keyof SnapshotRows | undefined = changedBy[event.type]) {
  if (model === undefined || changedBy[event.type] !== model) return null;
  const row = rowFromSnapshot(model, event.snapshot);
  return model === 'Account' ? typedAccount(row as Account) : typed(model, row);
}

/** The code of a refusal as clients see it, where the database has another one. */
function refusalCode(operation: string, code: string): string {
  if (code === 'ACCOUNT_EXISTS' || code === 'OTHER_VERSION') return 'CONFLICT';
  if (code === 'CONFLICT' && ['approveTransaction', 'rejectTransaction'].includes(operation)) {
    return 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';
  }
  return code;
}

async function receipt({ operation: asked, idempotencyKey }: Data, { viewer, reads }: Asking) {
  const operation = Object.keys(operations).find((one) => mutationName(one) === asked) ?? '';
  // The keys of an app are its own.
  const name = viewer.kind === 'CLIENT' ? `${operation}@${viewer.subject}` : operation;
  const isKey = /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  const records = isKey
    ? await reads.records({ platformId: viewer.platformId, operation: name, key: idempotencyKey })
    : [];
  const [record] = records;
  const refusal = record?.refusal as { code: string } | null | undefined;
  return {
    operation: asked,
    idempotencyKey,
    outcome: record ? (refusal ? 'REFUSED' : 'SUCCEEDED') : 'NONE',
    code: refusal ? refusalCode(operation, refusal.code) : null,
    createdAt: record?.createdAt ?? null,
    made: record?.result as Data,
  };
}

async function rates({ sendingAmount, ...args }: Data, { viewer, reads, payments }: Asking) {
  const [platform] = await reads.platforms({ id: viewer.platformId });
  if (!platform) throw new Error('a caller has a platform');
  const caller = platformItself({ platformId: viewer.platformId, environment: platform.environment });
  const amount = sendingAmount?.units ?? sendingAmount;
  return readExchangeRates(payments, caller, { ...args, sendingAmount: amount } as never).catch((error: unknown) => {
    throw error instanceof Refusal ? new GraphQLError(error.message, { extensions: { code: error.code } }) : error;
  });
}

/** Every field that is not the property of its name. */
export const resolvers: Readonly<Record<string, Fields<never>>> = {
  Query: fieldsOf<unknown>({
    account: (_root, { id }, asking) => node(id, asking, ['InternalAccount', 'ExternalAccount']),
    customer: (_root, { id }, asking) => node(id, asking, ['Customer']),
    quote: (_root, { id }, asking) => node(id, asking, ['Quote']),
    transaction: (_root, { id }, asking) => node(id, asking, ['Transaction']),
    platform: (_root, _args, asking) => nodeSeen.Platform?.(asking.viewer.platformId, asking),
    node: (_root, { id }, asking) => node(id, asking),
    nodes(_root, { ids }, asking) {
      if (ids.length > 100) throw invalidInput('at most 100 ids');
      return Promise.all(ids.map((id: string) => node(id, asking)));
    },
    accounts: (_root, args, asking) => accountList(args, asking),
    customers: (_root, args, asking) => customerList(args, asking),
    quotes: (_root, args, asking) => quoteList(args, asking),
    transactions: (_root, args, asking) => transactionList(args, asking),
    transactionTotals: (_root, args, asking) => totals(args, asking),
    events: (_root, args, asking) => eventList(args, asking),
    async apiTokens(_root, args, asking) {
      const where = { AND: [tokensSeenBy(asking.viewer), tokensWanted(args.filter)] };
      return connection('ApiToken', await asking.reads.apiTokens(where), args, asking);
    },
    async clientTokens(_root, args, asking) {
      const where = { AND: [appsSeenBy(asking.viewer), appsWanted(args.filter)] };
      return connection('ClientToken', await asking.reads.clientTokens(where), args, asking);
    },
    async webhookEndpoints(_root, args, asking) {
      const rows = await asking.reads.endpoints(endpointsSeenBy(asking.viewer));
      return connection('WebhookEndpoint', rows, args, asking);
    },
    currencies: () => currencies,
    exchangeRates: (_root, args, asking) => rates(args, asking),
    externalAccountForms(_root, { currency }) {
      if (currency != null && !currencyOf(currency)) {
        throw new GraphQLError('unknown currency', { extensions: { code: 'INVALID_CURRENCY' } });
      }
      const all = Object.entries(accountTypes).map(([accountType, type]): AccountForm => ({ ...type, accountType }));
      return all.filter(({ currencies: known }) => currency == null || known.includes(currency));
    },
    mutationReceipt: (_root, args, asking) => receipt(args, asking),
    viewer: (_root, _args, { viewer }) => viewer,
  }),
  ExternalAccountForm: fieldsOf<AccountForm>({
    inputField: ({ graphql }) => graphql.input,
    currencies: ({ currencies: codes }) => codes.map(currencyOf),
    isBeneficiaryRequired: ({ beneficiary }) => beneficiary,
    exactlyOneOf: ({ identifier }) => (identifier.length > 1 ? identifier : []),
    fields: ({ fields }) => Object.entries(fields).map(([name, field]) => ({ ...field, name })),
  }),
  ExternalAccountFormField: fieldsOf<AccountField>({
    isRequired: ({ optional }) => !optional,
    allowedValues: ({ values }) => values ?? null,
    format: ({ form, values }) => (values ? null : (form ?? null)),
    pattern: ({ pattern, values }) => (values ? null : (pattern?.source ?? null)),
    formatDependsOn: ({ formBy }) => formBy?.field ?? null,
    formatsByValue: ({ formBy }) => Object.entries(formBy?.forms ?? {}).map(([value, form]) => ({ ...form, value })),
  }),
  ExternalAccountFieldFormat: fieldsOf<{ readonly form: string; readonly pattern: RegExp }>({
    format: ({ form }) => form,
    pattern: ({ pattern }) => pattern.source,
  }),
  Viewer: fieldsOf<PlainViewer>({
    platformId: ({ platformId }) => publicId('Platform', platformId),
    environment: async ({ platformId }, _args, { reads }) =>
      (await reads.platforms({ id: platformId }))[0]?.environment,
    async expiresAt({ platformId, tokenId }, _args, { reads }) {
      if (tokenId === null) return null;
      return (await reads.clientTokens({ platformId, id: tokenId }))[0]?.expiresAt;
    },
    async policies({ platformId, kind, bound, tokenId, permissions }, _args, { reads }) {
      const ofServer = permissions.includes('VIEW') ? [platformId] : [];
      const ofApp = [tokenId ?? '', bound.kind === 'CUSTOMER' ? bound.customerId : ''].filter((id) => id !== '');
      return reads.policies({ platformId, subjectId: { in: kind === 'PLATFORM' ? ofServer : ofApp } });
    },
    customer: ({ bound }, _args, asking) => (bound.kind === 'CUSTOMER' ? customerSeen(bound.customerId, asking) : null),
    async grants({ platformId, kind, tokenId }, _args, { reads }) {
      const [token] =
        kind === 'CLIENT' && tokenId !== null ? await reads.clientTokens({ platformId, id: tokenId }) : [];
      return token?.grants ?? [];
    },
    // No token of the oracle, and no platform, has the flag.
    trustedDocumentsOnly: () => false,
    async feedCursor({ platformId }, _args, { reads }) {
      const [head] = await reads.feedHeads({ platformId });
      return feedCursor(cursors, platformId, head ?? feedStart);
    },
  }),
  Transaction: fieldsOf<Transaction>({
    owner: ownerOf,
    id: ({ id }) => publicId('Transaction', id),
    terminal: ({ status }) => ['COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED'].includes(status),
    sentAmount: ({ sentAmount, sentCurrency }) => moneyIfKnown(sentAmount, sentCurrency),
    receivedAmount: ({ receivedAmount, receivedCurrency }) => moneyIfKnown(receivedAmount, receivedCurrency),
    fees: ({ fees, sentCurrency }) => moneyIfKnown(fees, sentCurrency),
    source: (row) => sourceOf(row, row.sourceUmaAddress, row.sentCurrency ?? row.receivedCurrency, row),
    destination: (row) => destinationOf(row, row.receivedCurrency, row),
    customer: ({ customerId }, _args, asking) => customerSeen(customerId, asking),
    quote: ({ quoteId }, _args, asking) => quoteSeen(quoteId, asking),
    exchangeRate: ({ exchangeRate }) => exchangeRate?.toFixed(),
    rateDetails: ({ rateDetails, sentCurrency, receivedCurrency }) =>
      rateDetailsOf(rateDetails as Data, sentCurrency, receivedCurrency),
    refund: (row) =>
      row.refundReference === null
        ? null
        : {
            reference: row.refundReference,
            amount: moneyIfKnown(row.refundAmount, row.sentCurrency ?? row.receivedCurrency),
            initiatedAt: row.refundInitiatedAt,
            settledAt: row.refundSettledAt,
          },
    reconciliationReference: ({ status, reference }) => (status === 'CREATED' ? null : reference),
    counterpartyInformation: ({ counterpartyInformation }) => fieldsIn(counterpartyInformation),
    requestedReceiverInformation: ({ requestedInformation }) => requestedInformation ?? [],
    metadata: notedOn,
    timeline: ({ platformId, id }, _args, { reads }) =>
      reads.events({ platformId, transactionId: id, type: { in: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] } }),
    async ledgerEntries({ platformId, id }, _args, { reads }) {
      const entries: object[] = [];
      for (const journal of await reads.journals({ platformId, transactionId: id })) {
        for (const posting of await reads.postings({ platformId, journalId: journal.id })) {
          entries.push({ ...posting, journal });
        }
      }
      return entries;
    },
  }),
  TransactionEvent: fieldsOf<Event>({ cursor: (event) => feedCursor(cursors, event.platformId, event) }),
  LedgerEntry: fieldsOf<Entry>({
    id: ({ journalId, leg }) => `LedgerEntry:${journalId}.${leg}`,
    amount: ({ amount, currency }) => money(amount, currency),
    account: ({ accountId }, _args, asking) => accountSeen(accountId, asking),
    async system({ accountId, system }, _args, asking) {
      return accountId !== null && (await accountSeen(accountId, asking)) === null ? 'OTHER_ACCOUNT' : system;
    },
    occurredAt: ({ journal }) => journal.createdAt,
    kind: ({ journal }) => journal.kind.toUpperCase(),
    transaction: ({ journal }, _args, asking) => transactionSeen(journal.transactionId, asking),
    async balanceAfter({ accountId, balanceAfter, currency }, _args, asking) {
      return (await accountSeen(accountId, asking)) ? moneyIfKnown(balanceAfter, currency) : null;
    },
  }),
  Quote: fieldsOf<Quote>({
    owner: ownerOf,
    id: ({ id }) => publicId('Quote', id),
    source: async (row, _args, asking) =>
      sourceOf(row, null, row.sendingCurrency, await transactionOfQuote(row, asking)),
    destination: async (row, _args, asking) =>
      destinationOf(row, row.receivingCurrency, await transactionOfQuote(row, asking)),
    sendingCurrency: ({ sendingCurrency }) => currencyOf(sendingCurrency),
    receivingCurrency: ({ receivingCurrency }) => currencyOf(receivingCurrency),
    totalSendingAmount: ({ totalSendingAmount, sendingCurrency }) => money(totalSendingAmount, sendingCurrency),
    totalReceivingAmount: (row) => money(row.totalReceivingAmount, row.receivingCurrency),
    feesIncluded: ({ feesIncluded, sendingCurrency }) => money(feesIncluded, sendingCurrency),
    exchangeRate: ({ exchangeRate }) => exchangeRate.toFixed(),
    rateDetails: ({ pricing, sendingCurrency, receivingCurrency }) =>
      rateDetailsOf((pricing as Data).rateDetails, sendingCurrency, receivingCurrency),
    pricingSteps: ({ pricing }) =>
      (pricing as Data).steps.map(({ after, currency, ...step }: Data) => ({
        ...step,
        after: money(BigInt(after), currency),
      })),
    metadata: notedOn,
    paymentInstructions: ({ paymentInstructions }) => instructionsIn(paymentInstructions),
    customer: ({ customerId }, _args, asking) => customerSeen(customerId, asking),
    transaction: ({ transactionId }, _args, asking) => transactionSeen(transactionId, asking),
  }),
  AccountSource: accountEnd,
  AccountDestination: accountEnd,
  BeneficialOwner: fieldsOf<{ percentageOwnership?: number | null }>({
    percentageOwnership: ({ percentageOwnership: share }) => share?.toString(),
  }),
  RealtimeFundingSource: fieldsOf<{ customerId: string | null }>({
    customer: ({ customerId }, _args, asking) => customerSeen(customerId, asking),
  }),
  Customer: fieldsOf<Customer>({
    id: ({ id }) => publicId('Customer', id),
    policy: policyOf,
    metadata: notedOn,
    details: (row) => typed(row.customerType === 'INDIVIDUAL' ? 'IndividualDetails' : 'BusinessDetails', row),
    accounts: ({ id }, args, asking) => accountList(args, asking, { customerId: id }),
    transactions: ({ id }, args, asking) => transactionList(args, asking, { customerId: id }),
    quotes: ({ id }, args, asking) => quoteList(args, asking, { customerId: id }),
    transactionTotals: ({ id }, args, asking) => totals(args, asking, { customerId: id }),
  }),
  IndividualDetails: fieldsOf<Customer>({
    fullName: ({ name }) => name,
    birthDate: ({ birthDate }) => birthDate?.toISOString().slice(0, 10),
  }),
  BusinessDetails: fieldsOf<Customer>({ legalName: ({ name }) => name }),
  InternalAccount: fieldsOf<Account>({
    ...account,
    balance: ({ posted, currency }) => money(posted, currency),
    statement,
    ledgerEntries: ledgerEntryList,
    fundingPaymentInstructions: ({ fundingInstructions }) => instructionsIn(fundingInstructions),
  }),
  ExternalAccount: fieldsOf<Account>({
    ...account,
    metadata: notedOn,
    accountInfo: (row) =>
      row.accountType && {
        __typename: accountTypes[row.accountType].graphql.type,
        accountType: row.accountType,
        maskedNumber: maskedNumber(row),
        ...Object(row.accountInfo),
      },
    beneficiary: ({ beneficiary }) =>
      typed(
        (beneficiary as Data)?.beneficiaryType === 'INDIVIDUAL' ? 'IndividualBeneficiary' : 'BusinessBeneficiary',
        beneficiary as Data,
      ),
    beneficiaryVerifiedData: ({ beneficiaryVerifiedName }) =>
      beneficiaryVerifiedName && { fullName: beneficiaryVerifiedName },
  }),
  Money: fieldsOf<ReturnType<typeof money>>({
    decimal: ({ amount, currency }) => formatDecimal(amount, currency?.decimals ?? 0),
    formatted({ amount, currency }, { locale }) {
      const text = currency && formatMoney(amount, currency, locale ?? 'en');
      if (text instanceof Error) throw invalidInput('unknown locale');
      return text;
    },
  }),
  Platform: fieldsOf<Platform>({
    id: ({ id }) => publicId('Platform', id),
    policy: policyOf,
    isRegulatedFinancialInstitution: () => false,
    supportedCurrencies: ({ currencies: codes }) => codes.map((code) => ({ code })),
  }),
  PlatformCurrency: fieldsOf<{ code: string }>({
    currency: ({ code }) => currencyOf(code),
    minAmount: ({ code }) => money(1n, code),
    maxAmount: ({ code }) => money(9_000_000_000_000_000n, code),
    enabledTransactionTypes: () => ['INCOMING', 'OUTGOING'],
    deliveryRail: ({ code }) => new Map<string, string>(Object.entries(deliveryRails)).get(code),
    requiredCounterpartyFields: () => [],
    providerRequiredCustomerFields: () => [],
    providerRequiredCounterpartyCustomerFields: () => [],
  }),
  Lookup: fieldsOf<Lookup>({
    id: ({ id }) => publicId('Lookup', id),
    supportedCurrencies: (row) => row.currencies,
    requiredPayerFields: ({ requiredFields }) => requiredFields,
  }),
  ReceiverCurrency: fieldsOf<Data>({
    currency: ({ code }) => currencyOf(code),
    minAmount: ({ code, minAmount }) => money(BigInt(minAmount), code),
    maxAmount: ({ code, maxAmount }) => money(BigInt(maxAmount), code),
  }),
  ApiToken: fieldsOf<{ id: string; createdById: string | null }>({
    // A revoked one is not seen.
    version: () => 1,
    id: ({ id }) => publicId('ApiToken', id),
    policy: policyOf,
    createdById: ({ createdById }) => createdById && publicId('ApiToken', createdById),
  }),
  ClientToken: fieldsOf<ClientToken>({
    version: ({ revokedAt }) => (revokedAt ? 2 : 1),
    id: ({ id }) => publicId('ClientToken', id),
    policy: policyOf,
    createdById: ({ createdById }) => createdById && publicId('ApiToken', createdById),
    active: ({ revokedAt, expiresAt }) => revokedAt === null && expiresAt.getTime() > Date.now(),
    customer: ({ customerId }, _args, asking) => customerSeen(customerId, asking),
    quote: ({ quoteId }, _args, asking) => quoteSeen(quoteId, asking),
    transaction: ({ transactionId }, _args, asking) => transactionSeen(transactionId, asking),
  }),
  Policy: fieldsOf<Policy>({
    id: ({ id }) => publicId('Policy', id),
    subjectId: ({ subjectType, subjectId }) => `${subjectType}:${subjectId}`,
    limits: limitsOf,
  }),
  WebhookEndpoint: fieldsOf<WebhookEndpoint>({
    id: ({ id }) => publicId('WebhookEndpoint', id),
    tokenId: ({ tokenId }) => tokenId && publicId('ApiToken', tokenId),
    async deliveries({ platformId, id }, args, asking) {
      const where = { AND: [{ platformId, endpointId: id }, deliveriesWanted(args.filter)] };
      const rows = await asking.reads.deliveries(where);
      return connection('WebhookDelivery', rows, args, asking);
    },
  }),
  WebhookDelivery: fieldsOf<WebhookDelivery>({
    id: ({ id }) => publicId('WebhookDelivery', id),
    event: async ({ platformId, eventSequence }, _args, { reads }) =>
      (await reads.events({ platformId, sequence: eventSequence }))[0],
    attempts: ({ platformId, id }, _args, { reads }) => reads.attempts({ platformId, deliveryId: id }),
    endpoint: async ({ platformId, endpointId }, _args, { viewer, reads }) =>
      (await reads.endpoints({ AND: [{ platformId, id: endpointId }, endpointsSeenBy(viewer)] }))[0] ?? null,
  }),
  Event: fieldsOf<Event>({
    id: ({ id }) => publicId('Event', id),
    cursor: (event) => feedCursor(cursors, event.platformId, event),
    subject: (event) => changed(event),
    account: (event) => changed(event, 'Account'),
    transaction: (event, _args, asking) =>
      changed(event, 'Transaction') ?? transactionSeen(event.transactionId, asking),
    quote: (event, _args, asking) => changed(event, 'Quote') ?? quoteSeen(event.quoteId, asking),
    customer: (event, _args, asking) => changed(event, 'Customer') ?? customerSeen(event.customerId, asking),
    deliveries: async ({ platformId, sequence }, _args, { viewer, reads }) =>
      reads.deliveries({ AND: [{ platformId, eventSequence: sequence }, { endpoint: endpointsSeenBy(viewer) }] }),
    webhookBody: (event, _args, asking) => (asking.viewer.bound.kind === 'PLATFORM' ? bodyOf(event, asking) : null),
  }),
  MutationReceipt: fieldsOf<{ made: Data }>({
    async result({ made }, _args, asking) {
      if (!made?.row) return null;
      const { type, row } = made;
      if (type === 'Account') return node(accountPublicId(row.kind, row.id), asking);
      return node(`${type}:${row.id}`, asking);
    },
  }),
};

/** Returns the body of an event's webhook: made by the same function, from rows that are read one by one. */
async function bodyOf(event: Event, { reads }: Asking): Promise<string | null> {
  if (!webhookTypes.some((type) => type === event.type)) return null;
  const { platformId } = event;
  const payment = changedBy[event.type] === 'Transaction' ? rowFromSnapshot('Transaction', event.snapshot) : null;
  const accountOf = async (id: string | null | undefined) =>
    id ? (await reads.accounts({ platformId, id }))[0] : undefined;
  const source = await accountOf(payment?.sourceAccountId);
  const destination = await accountOf(payment?.destinationAccountId);
  const account = await accountOf(event.accountId);
  const [customer] = event.customerId ? await reads.customers({ platformId, id: event.customerId }) : [];
  return webhookText(cursors, event, {
    platformCustomerId: customer?.platformCustomerId ?? null,
    sourceKind: source?.kind ?? null,
    sourceCurrency: source?.currency ?? null,
    destinationKind: destination?.kind ?? null,
    accountCurrency: account?.currency ?? null,
  });
}

/** Refuses, before a value is read, what the caller may not ask the query for: each field needs VIEW, the tokens MANAGE. */
export function requirePermission(field: string, { viewer }: Asking): void {
  const needed = ['apiTokens', 'clientTokens'].includes(field) ? 'MANAGE' : 'VIEW';
  if (viewer.permissions.includes(needed)) return;
  throw new GraphQLError('a permission is missing', { extensions: { code: 'FORBIDDEN' } });
}
