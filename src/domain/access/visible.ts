import DataLoader from 'dataloader';
import { boundedMemo } from '../../core/bounded-cache.ts';
import { equal, matchesNothing } from '../../core/conditions.ts';
import { oncePer } from '../../core/once-per.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { columnName, type Event, trustedJson } from '../../infra/database/rows.ts';
import { type Queryable, type Statement, statement } from '../../infra/database/statement.ts';
import type { Caller, Viewer } from './caller.ts';

export type Scope = Pick<Caller, 'platformId' | 'bound'>;

/** For each kind of bound, the row field that must match it, or null if a caller with that bound sees no rows. */
interface Rule<Field extends string = string> {
  readonly CUSTOMER: Field | null;
  readonly PAYMENT: Field | null;
}

const rules = {
  quote: { CUSTOMER: 'customerId', PAYMENT: 'transactionId' },
  transaction: { CUSTOMER: 'customerId', PAYMENT: 'id' },
  // A token for one payment gives access to the payment, but not to its customer.
  customer: { CUSTOMER: 'id', PAYMENT: null },
  account: { CUSTOMER: 'customerId', PAYMENT: null },
  // A quote's events contain the id of its transaction, so `transactionId` also matches them.
  event: { CUSTOMER: 'customerId', PAYMENT: 'transactionId' },
  // A customer's app sees the lookups for the customer's payments, but only if the app may look up receivers.
  lookup: { CUSTOMER: 'senderCustomerId', PAYMENT: null },
  // Records that belong to a platform's servers (webhook endpoints, tokens) and are hidden from apps.
  ofPlatform: { CUSTOMER: null, PAYMENT: null },
} as const satisfies Record<string, Rule>;

export type Noun = keyof typeof rules;

export const visibleQuotes = (scope: Scope): Prisma.QuoteWhereInput => where(rules.quote, scope);
export const visibleTransactions = (scope: Scope): Prisma.TransactionWhereInput => where(rules.transaction, scope);
export const visibleCustomers = (scope: Scope): Prisma.CustomerWhereInput => where(rules.customer, scope);
export const visibleAccounts = (scope: Scope): Prisma.AccountWhereInput => where(rules.account, scope);
export const visibleEvents = (scope: Scope): Prisma.EventWhereInput => where(rules.event, scope);

/** Returns the condition for the lookups that a caller may see, which matches none if `seesLookups` is false. */
export function visibleLookups(caller: Caller): Prisma.LookupWhereInput {
  return seesLookups(caller) ? where(rules.lookup, caller) : { AND: [matchesNothing] };
}

/** Returns whether the caller may see lookups. Servers may, and so may apps that may look up receivers. */
export function seesLookups({ kind, grants }: Pick<Caller, 'kind' | 'grants'>): boolean {
  return kind === 'PLATFORM' || grants.includes('LOOK_UP_RECEIVERS');
}

/** Every caller, even an app, may see its own platform. */
export function ownPlatform({ platformId }: Pick<Scope, 'platformId'>): Prisma.PlatformWhereInput {
  return { id: platformId };
}

/** Returns the condition for records that only the platform itself may see. */
export function visibleToPlatform(scope: Scope): { readonly platformId: string } {
  return where(rules.ofPlatform, scope);
}

/** With MANAGE, a viewer sees all tokens that are not revoked. */
export function visibleApiTokens(viewer: Viewer): Prisma.ApiTokenWhereInput {
  const seen = viewer.permissions.includes('MANAGE') ? visibleToPlatform(viewer) : matchesNothing;
  return { AND: [seen, { revokedAt: null }] };
}

/** Returns the condition for the client tokens that a viewer may see: with MANAGE, all of them, even revoked ones. */
export function visibleClientTokens(viewer: Viewer): Prisma.ClientTokenWhereInput {
  return viewer.permissions.includes('MANAGE') ? visibleToPlatform(viewer) : matchesNothing;
}

/**
 * With MANAGE, a server sees all policies; without it, only those of customers and the platform. An app sees the policy
 * of the customer to which it is bound, if any.
 */
export function visiblePolicies({ platformId, bound, permissions }: Viewer): Prisma.PolicyWhereInput {
  if (bound.kind === 'CUSTOMER') return { platformId, subjectId: bound.customerId };
  if (bound.kind === 'PAYMENT') return { AND: [matchesNothing] };
  return { platformId, ...(!permissions.includes('MANAGE') && { subjectType: { in: ['Customer', 'Platform'] } }) };
}

/** An app sees only its own policies and those of its customer. */
export function maySeePolicyOf(caller: Caller, subjectId: string): boolean {
  const { bound, permissions, tokenId } = caller;
  if (!permissions.includes('VIEW')) return false;
  if (bound.kind === 'PLATFORM') return true;
  return subjectId === tokenId || (bound.kind === 'CUSTOMER' && subjectId === bound.customerId);
}

/** Returns whether the caller may see a given event, by the same rule as `visibleEvents`. */
export function maySeeEvent(scope: Scope, event: Event): boolean {
  return event.platformId === scope.platformId && maySee('event', scope, event);
}

/** Returns whether the caller may see a given row of its own platform. */
export function maySee(noun: Noun, { bound }: Pick<Scope, 'bound'>, row: Readonly<Record<string, unknown>>): boolean {
  if (bound.kind === 'PLATFORM') return true;
  const field = rules[noun][bound.kind];
  return field !== null && row[field] === idOf(bound);
}

/** Returns whether a caller with the given kind of bound can see any records of the given kind. */
export function seesAny(noun: Noun, { bound }: Pick<Scope, 'bound'>): boolean {
  return bound.kind === 'PLATFORM' || rules[noun][bound.kind] !== null;
}

function where<Field extends string>(rule: Rule<Field>, { platformId, bound }: Scope) {
  if (bound.kind === 'PLATFORM') return { platformId };
  const field = rule[bound.kind];
  return { platformId, ...(field === null ? matchesNothing : equal(field, idOf(bound))) };
}

function idOf(bound: Exclude<Caller['bound'], { kind: 'PLATFORM' }>): string {
  return bound.kind === 'CUSTOMER' ? bound.customerId : bound.transactionId;
}

/**
 * Returns a function that runs a statement for a caller. $1 is the caller's platform. $2 is the customer and $3 the
 * transaction to which the caller is bound; each is null if there is no such bound. The call's own values start at $4.
 * The statement must restrict its rows with `visibleRow`.
 */
export function forCaller<Row>(statement: Statement<Row>) {
  return (on: Queryable, { platformId, bound }: Scope, ...values: readonly unknown[]): Promise<Row[]> => {
    const customerId = bound.kind === 'CUSTOMER' ? bound.customerId : null;
    const transactionId = bound.kind === 'PAYMENT' ? bound.transactionId : null;
    return statement(on, platformId, customerId, transactionId, ...values);
  };
}

/**
 * Like `forCaller`, for a statement that takes each value as an array and returns a row for each element, in order.
 * Calls with the same bounds share a statement if they are made in the same turn of the event loop. This saves more
 * than a quarter of a command's CPU time under load (bench/LOG.md).
 */
export function sharedForCallers<Row>(statement: Statement<Row>) {
  const run = forCaller(statement);
  const runAll = async (on: Queryable, caller: Scope, calls: readonly (readonly unknown[])[]) => {
    const columns = (calls[0] ?? []).map((_value, column) => calls.map((values) => values[column]));
    const rows = await asPlatform(caller.platformId, () => run(on, caller, ...columns));
    return calls.map((_values, position) => rows[position] ?? new Error('the statement returned too few rows'));
  };
  const loadersOf = oncePer((on: Queryable) =>
    boundedMemo(maxLoaders, (key) => {
      const scope = trustedJson<Scope>(JSON.parse(key));
      return new DataLoader<readonly unknown[], Row>((calls) => runAll(on, scope, calls), perTurn);
    }),
  );
  return (on: Queryable, { platformId, bound }: Scope, ...values: readonly unknown[]): Promise<Row> =>
    loadersOf(on).memo(JSON.stringify({ platformId, bound })).load(values);
}

/** The maximum number of cached loaders. There is one for each scope: a platform, a customer or a payment. */
const maxLoaders = 2_000;

/** Requests make their calls in different ticks, so a batch is sent only after all sockets have been read. */
const perTurn = {
  cache: false,
  maxBatchSize: 100,
  batchScheduleFn: (run: () => void) => void setImmediate(run),
};

/** Returns an SQL condition for `forCaller` statements. It selects the rows of `alias` that the caller may see. */
export function visibleRow(noun: Noun, alias: string): string {
  const { CUSTOMER: ofCustomer, PAYMENT: ofPayment } = rules[noun];
  const bound = (parameter: string, field: string | null) =>
    field === null
      ? `${parameter}::uuid is null`
      : `(${parameter}::uuid is null or ${alias}.${columnName(field)} = ${parameter})`;
  return `${alias}.platform_id = $1 and ${bound('$2', ofCustomer)} and ${bound('$3', ofPayment)}`;
}

const isVisible = (name: string, noun: 'customer' | 'transaction') =>
  sharedForCallers(
    statement<{ isVisible: boolean }>(
      name,
      `select exists (select from ${noun} r where ${visibleRow(noun, 'r')} and r.id = named.id) as is_visible
       from unnest($4::uuid[]) with ordinality as named (id, place) order by named.place`,
    ),
  );

/** Streams that open at the same time share a statement, because thousands open when an instance restarts. */
export const isVisibleStatements = {
  Customer: isVisible('is_customer_visible', 'customer'),
  Transaction: isVisible('is_transaction_visible', 'transaction'),
};
