import { publicId } from '../../../src/core/ids.ts';
import { query } from '../../setup/embedded-servers.ts';
import type { Data, TestPlatform } from '../../setup/gateway.ts';
import type { BookedDeposit, BookedOrder, Movement, State } from './books.ts';

/** Reads the gateway's books with SQL written for the checker, and the upstream's books over REST. */

export async function readOrders(databaseUrl: string): Promise<BookedOrder[]> {
  const rows = await query<Data>(
    databaseUrl,
    `select o.id, o.transaction_id, o.kind, o.rate_lock ->> 'sent' as lock_sent, t.status, t.type,
       t.sent_amount::text, t.sent_currency, t.received_amount::text, t.received_currency,
       exists (select from account d where d.platform_id = o.platform_id and d.id = t.destination_account_id and d.kind = 'INTERNAL') as stays,
       exists (select from rail_order p where p.platform_id = o.platform_id and p.transaction_id = o.transaction_id and p.kind = 'PAYOUT') as paid_out
     from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id order by o.id`,
  );
  return rows.map(orderOf);
}

function orderOf(row: Data): BookedOrder {
  const { id, kind, type, status, lock_sent: lockSent } = row;
  const isPull = kind === 'COLLECTION' && type === 'OUTGOING';
  const sent = { amount: BigInt(lockSent ?? row.sent_amount), currency: row.sent_currency };
  const received = { amount: BigInt(row.received_amount), currency: row.received_currency };
  return {
    ...(isPull || lockSent !== null ? sent : received),
    ...{ id, transactionId: publicId('Transaction', row.transaction_id), status },
    direction: kind === 'PAYOUT' ? 'OUT' : 'IN',
    // A pull counts as settled once its payout has been ordered, regardless of the payout's outcome.
    state: isPull && row.paid_out ? 'SETTLED' : stateOf(status),
    ...(kind === 'PAYOUT' && lockSent !== null && row.stays && { converted: received }),
  };
}

export async function readDeposits(databaseUrl: string): Promise<BookedDeposit[]> {
  const rows = await query<Data>(
    databaseUrl,
    'select id, reference, status, reason, attempts, transaction_id, amount::text, currency from rail_deposit order by id',
  );
  return rows.map(({ id, reference, status, reason, attempts, transaction_id: transaction, amount, currency }) => ({
    ...{ id, reference, status, attempts, amount: BigInt(amount), currency },
    reason: reason ?? undefined,
    transactionId: transaction === null ? undefined : publicId('Transaction', transaction),
  }));
}

/** Reads the upstream platform's payments, excluding unexecuted quotes and transfers between its own accounts. */
export async function readMovements(account: TestPlatform, url: string): Promise<Movement[]> {
  const movements: Movement[] = [];
  const parameters = new URLSearchParams({ limit: '100', sortOrder: 'asc' });
  for (;;) {
    const { data, nextCursor } = await rest(account, `${url}/2025-10-13/transactions?${parameters}`);
    movements.push(...data.filter(hasMoved).map(movementOf));
    if (nextCursor === undefined) return movements;
    parameters.set('cursor', nextCursor);
  }
}

export async function readHeld(account: TestPlatform, url: string): Promise<ReadonlyMap<string, bigint>> {
  const { data } = await rest(account, `${url}/2025-10-13/platform/internal-accounts`);
  return new Map(data.map(({ balance }: Data) => [balance.currency.code, BigInt(balance.amount)]));
}

export async function paymentIds(databaseUrl: string): Promise<ReadonlySet<string>> {
  const rows = await query<{ id: string }>(databaseUrl, 'select id from transaction');
  return new Set(rows.map(({ id }) => `Transaction:${id}`));
}

export async function executedIds(databaseUrl: string): Promise<ReadonlySet<string>> {
  const rows = await query<{ id: string }>(
    databaseUrl,
    "select id from transaction where quote_id is not null and status not in ('PENDING', 'EXPIRED')",
  );
  return new Set(rows.map(({ id }) => `Transaction:${id}`));
}

export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no instance serves');
  return value;
}

async function rest({ authorization }: TestPlatform, address: string): Promise<Data> {
  const answer = await fetch(address, { headers: { authorization } });
  if (answer.status !== 200) throw new Error(`${address} answered ${answer.status}`);
  return answer.json();
}

/** Returns false for a quote that was not executed and for a transfer between the platform's own upstream accounts. */
function hasMoved({ status, quoteId, description = '' }: Data): boolean {
  const isOnlyQuoted = quoteId !== undefined && (status === 'PENDING' || status === 'EXPIRED');
  return !isOnlyQuoted && !/^(deposit|funding of|unused of) [0-9a-f-]{36}$/.test(description);
}

function movementOf({ id, type, status, description, receivedAmount, sentAmount, platformCustomerId }: Data): Movement {
  const moved = type === 'OUTGOING' ? (sentAmount ?? receivedAmount) : receivedAmount;
  return {
    reference: id,
    amount: BigInt(moved.amount),
    currency: moved.currency.code,
    orderId: /^order ([0-9a-f-]{36})$/.exec(description ?? '')?.[1],
    isDeposit: type === 'INCOMING' && Boolean(platformCustomerId),
    direction: type === 'OUTGOING' ? 'OUT' : 'IN',
    state: stateOf(status),
  };
}

function stateOf(status: string): State {
  switch (status) {
    case 'COMPLETED':
      return 'SETTLED';
    case 'REFUNDED':
      return 'RETURNED';
    case 'FAILED':
    case 'REJECTED':
    case 'EXPIRED':
      return 'FAILED';
    default:
      return 'UNDER_WAY';
  }
}
