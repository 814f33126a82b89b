import type { MovementsPage, MovementsRequest, RailMovement } from '../rail-parts.ts';
import type { Upstream } from './upstream-accounts.ts';
import { type TransactionRecord, transactionPage } from './upstream-client.ts';

/** Returns the id of the order named in a payment's description, or undefined. */
export function orderIdIn(description: string | undefined): string | undefined {
  return /^order ([0-9a-f-]{36})$/.exec(description ?? '')?.[1];
}

/** Returns the memo of an upstream payment, which names its order or deposit for operators and reconciliation. */
export function memoOf(what: 'order' | 'return of' | 'deposit' | 'funding of' | 'unused of', id: string): string {
  return `${what} ${id}`;
}

type Ends = Pick<TransactionRecord, 'description' | 'source' | 'destination'>;

/** Returns whether a payment only moves money between the platform's upstream accounts, whatever its memo says. */
export function isWithin({ description, source, destination }: Ends): boolean {
  const isOwn = (end: TransactionRecord['source']) => end?.accountId?.startsWith('InternalAccount:') === true;
  const isOurs = /^(deposit|funding of|unused of) [0-9a-f-]{36}$/.test(description ?? '');
  return isOurs && isOwn(source) && isOwn(destination);
}

export async function readMovements(
  { client }: Upstream,
  { from, to, cursor }: MovementsRequest,
): Promise<MovementsPage> {
  const period = { startDate: from.toISOString(), endDate: to.toISOString() };
  const query = { ...period, sortOrder: 'asc', limit: '100', cursor };
  const { data, nextCursor } = await client.get('/transactions', transactionPage, query);
  return { movements: data.filter((one) => hasBegun(one) && !isWithin(one)).map(movementOf), nextCursor };
}

export const states: Readonly<Record<TransactionRecord['status'], RailMovement['state']>> = {
  CREATED: 'UNDER_WAY',
  PENDING: 'UNDER_WAY',
  PROCESSING: 'UNDER_WAY',
  COMPLETED: 'SETTLED',
  REJECTED: 'FAILED',
  FAILED: 'FAILED',
  EXPIRED: 'FAILED',
  REFUNDED: 'RETURNED',
};

/** Returns whether a payment has begun. An unexecuted quote's payment has not, because it moves no money. */
export function hasBegun({ status, quoteId }: TransactionRecord): boolean {
  return quoteId === undefined || (status !== 'PENDING' && status !== 'EXPIRED');
}

function movementOf(transaction: TransactionRecord): RailMovement {
  const { id, type, createdAt, status, description, receivedAmount, sentAmount } = transaction;
  // An outgoing payment has moved the amount that it took from the upstream account.
  const moved = type === 'OUTGOING' ? (sentAmount ?? receivedAmount) : receivedAmount;
  return {
    orderId: orderIdIn(description),
    returnOf: /^return of ([0-9a-f-]{36})$/.exec(description ?? '')?.[1],
    reference: id,
    amount: BigInt(moved.amount),
    currency: moved.currency.code,
    direction: type && (type === 'INCOMING' ? 'IN' : 'OUT'),
    at: createdAt === undefined ? undefined : new Date(createdAt),
    state: states[status],
  };
}
