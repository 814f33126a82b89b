import { visibleAccounts, visibleCustomers, visibleQuotes, visibleTransactions } from '../../access/visible.ts';
import { type IdType, uuidOf } from '../../core/ids.ts';
import { Refusal, type RefusalCode } from '../../core/refusal.ts';
import { countRows } from '../../database/read-rows.ts';
import type { Context } from '../context.ts';

interface Named {
  readonly count: (uuid: string, context: Context) => Promise<number>;
  readonly code: RefusalCode;
  readonly message: string;
}

const unseen = async () => 0;

const account: Named = {
  count: (id, { payments, viewer }) =>
    countRows(payments.database, 'Account', { where: { AND: [visibleAccounts(viewer), { id }] } }),
  code: 'ACCOUNT_NOT_FOUND',
  message: 'no such account',
};

/** What a public id in a mutation's input can name, and whether an app may see it. */
const named: Readonly<Partial<Record<IdType, Named>>> = {
  Quote: {
    count: (id, { payments, viewer }) =>
      countRows(payments.database, 'Quote', { where: { AND: [visibleQuotes(viewer), { id }] } }),
    code: 'QUOTE_NOT_FOUND',
    message: 'no such quote',
  },
  Transaction: {
    count: (id, { payments, viewer }) =>
      countRows(payments.database, 'Transaction', { where: { AND: [visibleTransactions(viewer), { id }] } }),
    code: 'TRANSACTION_NOT_FOUND',
    message: 'no such transaction',
  },
  Customer: {
    count: (id, { payments, viewer }) =>
      countRows(payments.database, 'Customer', { where: { AND: [visibleCustomers(viewer), { id }] } }),
    code: 'USER_NOT_FOUND',
    message: 'no such customer',
  },
  InternalAccount: account,
  ExternalAccount: account,
};

const idForm = /^([A-Z][A-Za-z]+):[0-9a-f-]{36}$/;

/**
 * Refuses a mutation of an app that names something it may not see: an account, a quote, a customer, anywhere in the
 * input. It looks at every string in the form of an id, so that a new input field cannot be forgotten; an id of a type
 * that apps have no part in is unknown to them.
 * @throws Refusal …_NOT_FOUND with the input's path, as for an id that does not exist
 */
export async function requireVisibleIds(input: unknown, context: Context, path: readonly string[] = []): Promise<void> {
  if (typeof input === 'string') return requireVisible(input, context, path.join('.'));
  if (typeof input !== 'object' || input === null || input instanceof Date) return;
  for (const [name, value] of Object.entries(input)) await requireVisibleIds(value, context, [...path, name]);
}

async function requireVisible(text: string, context: Context, field: string): Promise<void> {
  const type = idForm.exec(text)?.[1];
  if (type === undefined) return;
  const what = named[type as IdType];
  const uuid = what && uuidOf(text, type as IdType);
  const seen = what && uuid !== undefined ? await what.count(uuid, context) : await unseen();
  if (seen === 0)
    throw new Refusal(what?.code ?? 'INVALID_INPUT', what?.message ?? `no such thing: ${field}`, { field });
}
