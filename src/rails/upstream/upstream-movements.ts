import type { MovementsPage, MovementsRequest, RailMovement } from '../rail-parts.ts';
import { type TransactionRecord, transactionPage, type UpstreamClient } from './upstream-client.ts';

const pageSize = 100;

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

export async function readMovements(client: UpstreamClient, request: MovementsRequest): Promise<MovementsPage> {
  const query = new URLSearchParams({
    startDate: request.from.toISOString(),
    endDate: request.to.toISOString(),
    sortOrder: 'asc',
    limit: String(pageSize),
    ...(request.cursor !== undefined && { cursor: request.cursor }),
  });
  const { data, nextCursor } = await client.get(`/transactions?${query}`, transactionPage);
  const movements = data.filter((one) => hasBegun(one) && !isWithin(one)).map(movementOf);
  return { movements, ...(nextCursor !== undefined && { nextCursor }) };
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

/** Returns whether a payment has begun. The payment of an unexecuted quote has not begun: it moves no money. */
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
