import { matchesNothing } from '../core/conditions.ts';
import type { Prisma } from '../database/generated/client/client.ts';
import { columnName, type Event } from '../database/rows.ts';
import type { Queryable, Statement } from '../database/statement.ts';
import { whereApiTokens } from './api-token-records.ts';
import type { Caller } from './caller.ts';
import type { Viewer } from './viewer.ts';

/**
 * What a caller can see, in one place: each list, getter, node, reference, stream and command asks here. What is not
 * visible is not there: it looks unknown.
 */

/** What of a caller decides that, and nothing else of it does. */
export type Scope = Pick<Caller, 'platformId' | 'bound'>;

/**
 * The field of a row that must be the customer, or the payment's transaction, that a caller is bound to; null where a caller
 * with such a bound sees no row.
 */
interface Rule<Field extends string = string> {
  readonly CUSTOMER: Field | null;
  readonly PAYMENT: Field | null;
}

const rules = {
  quote: { CUSTOMER: 'customerId', PAYMENT: 'transactionId' },
  transaction: { CUSTOMER: 'customerId', PAYMENT: 'id' },
  // The token of one payment shows the payment, not whose it is.
  customer: { CUSTOMER: 'id', PAYMENT: null },
  account: { CUSTOMER: 'customerId', PAYMENT: null },
  // Events of quotes carry their transaction, so one field holds for both.
  event: { CUSTOMER: 'customerId', PAYMENT: 'transactionId' },
  // What a platform's servers make for themselves (lookups, webhook endpoints, tokens): an app sees none.
  ofPlatform: { CUSTOMER: null, PAYMENT: null },
} as const satisfies Record<string, Rule>;

/** What a platform has, of which a caller sees all, some or nothing. */
export type Noun = keyof typeof rules;

export function visibleQuotes(scope: Scope): Prisma.QuoteWhereInput {
  return where(rules.quote, scope);
}

export function visibleTransactions(scope: Scope): Prisma.TransactionWhereInput {
  return where(rules.transaction, scope);
}

export function visibleCustomers(scope: Scope): Prisma.CustomerWhereInput {
  return where(rules.customer, scope);
}

export function visibleAccounts(scope: Scope): Prisma.AccountWhereInput {
  return where(rules.account, scope);
}

export function visibleEvents(scope: Scope): Prisma.EventWhereInput {
  return where(rules.event, scope);
}

/** The condition for what a platform's servers make for themselves: lookups, webhook endpoints and tokens. */
export function visibleToPlatform(scope: Scope): { readonly platformId: string } {
  return where(rules.ofPlatform, scope);
}

/** API tokens are shown to those who may make them. */
export function visibleApiTokens(viewer: Viewer): Prisma.ApiTokenWhereInput {
  const seen = viewer.permissions.includes('MANAGE') ? visibleToPlatform(viewer) : matchesNothing;
  return { AND: [seen, whereApiTokens(viewer.platformId, {})] };
}

/** As `visibleEvents`, for one event in hand. */
export function maySeeEvent(scope: Scope, event: Event): boolean {
  return event.platformId === scope.platformId && maySee('event', scope, event);
}

/** Whether the caller may see a row in hand of its own platform. */
export function maySee(noun: Noun, { bound }: Pick<Scope, 'bound'>, row: Readonly<Record<string, unknown>>): boolean {
  if (bound.kind === 'PLATFORM') return true;
  const field = rules[noun][bound.kind];
  return field !== null && row[field] === idOf(bound);
}

/** Whether the caller sees rows of this noun at all. */
export function seesAny(noun: Noun, { bound }: Pick<Scope, 'bound'>): boolean {
  return bound.kind === 'PLATFORM' || rules[noun][bound.kind] !== null;
}

/** Prisma's condition for the rows that a caller may see by this rule. */
function where<Field extends string>(rule: Rule<Field>, { platformId, bound }: Scope) {
  if (bound.kind === 'PLATFORM') return { platformId };
  const field = rule[bound.kind];
  return { platformId, ...(field === null ? matchesNothing : equal(field, idOf(bound))) };
}

/** An object with one field, whose name the compiler would forget. */
function equal<Field extends string>(field: Field, value: string): { readonly [F in Field]?: string } {
  return { [field]: value } as { readonly [F in Field]?: string };
}

function idOf(bound: Exclude<Caller['bound'], { kind: 'PLATFORM' }>): string {
  return bound.kind === 'CUSTOMER' ? bound.customerId : bound.transactionId;
}

/**
 * Makes a statement one that is given the caller with each call: for what commands read. Its text names the rows that it reads
 * by `visibleRow`: its first three parameters are the caller's platform and the customer or the payment that the caller is
 * bound to, each null where it is not. The values of the call are the parameters from $4 on.
 */
export function forCaller<Row>(statement: Statement<Row>) {
  return (on: Queryable, { platformId, bound }: Scope, ...values: readonly unknown[]): Promise<Row[]> => {
    const customerId = bound.kind === 'CUSTOMER' ? bound.customerId : null;
    const transactionId = bound.kind === 'PAYMENT' ? bound.transactionId : null;
    return statement(on, platformId, customerId, transactionId, ...values);
  };
}

/** The SQL condition for the rows, under an alias, that the caller of a statement `forCaller` may see. */
export function visibleRow(noun: Noun, alias: string): string {
  const { CUSTOMER: ofCustomer, PAYMENT: ofPayment } = rules[noun];
  const bound = (parameter: string, field: string | null) =>
    field === null
      ? `${parameter}::uuid is null`
      : `(${parameter}::uuid is null or ${alias}.${columnName(field)} = ${parameter})`;
  return `${alias}.platform_id = $1 and ${bound('$2', ofCustomer)} and ${bound('$3', ofPayment)}`;
}
