import type { MovementsPage, MovementsRequest, RailMovement } from '../rail-movements.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { type TransactionRecord, transactionPage } from './upstream-records.ts';

const pageSize = 100;

/** Reads a page of the account's transactions at the upstream service, the oldest first. */
export async function readMovements(client: UpstreamClient, request: MovementsRequest): Promise<MovementsPage> {
  const query = new URLSearchParams({
    startDate: request.from.toISOString(),
    endDate: request.to.toISOString(),
    sortOrder: 'asc',
    limit: String(pageSize),
    ...(request.cursor !== undefined && { cursor: request.cursor }),
  });
  const { data, nextCursor } = await client.get(`/transactions?${query}`, transactionPage);
  return { movements: data.filter(hasBegun).map(movementOf), ...(nextCursor !== undefined && { nextCursor }) };
}

const states: Readonly<Record<TransactionRecord['status'], RailMovement['state']>> = {
  CREATED: 'UNDER_WAY',
  PENDING: 'UNDER_WAY',
  PROCESSING: 'UNDER_WAY',
  COMPLETED: 'SETTLED',
  REJECTED: 'FAILED',
  FAILED: 'FAILED',
  EXPIRED: 'FAILED',
  REFUNDED: 'RETURNED',
};

/** Tells whether a payment has begun: that of a quote which nobody has executed moves nothing. */
export function hasBegun({ status, quoteId }: TransactionRecord): boolean {
  return quoteId === undefined || (status !== 'PENDING' && status !== 'EXPIRED');
}

function movementOf(transaction: TransactionRecord): RailMovement {
  const { id, type, createdAt, status, description, receivedAmount, sentAmount } = transaction;
  // What an outgoing payment has moved on the account is what it took from there.
  const moved = type === 'OUTGOING' ? (sentAmount ?? receivedAmount) : receivedAmount;
  return {
    // The memo of the payment names our order.
    orderId: /^order ([0-9a-f-]{36})$/.exec(description ?? '')?.[1],
    returnOf: /^return of ([0-9a-f-]{36})$/.exec(description ?? '')?.[1],
    reference: id,
    amount: BigInt(moved.amount),
    currency: moved.currency.code,
    direction: type && (type === 'INCOMING' ? 'IN' : 'OUT'),
    at: createdAt === undefined ? undefined : new Date(createdAt),
    state: states[status],
  };
}
