import { visibleCustomers, visibleTransactions } from '../../../access/visible.ts';
import { uuidOf } from '../../../core/ids.ts';
import { readRow } from '../../../database/read-rows.ts';
import type { Context } from '../../context.ts';
import { failure } from '../../failure.ts';

/**
 * Returns the UUID of a customer that the caller may see.
 * @param field the name of the argument
 * @throws GraphQLError NOT_FOUND
 */
export async function visibleCustomerId({ payments, viewer }: Context, id: string, field: string): Promise<string> {
  const uuid = uuidOf(id, 'Customer');
  const customer =
    uuid && (await readRow(payments.database, 'Customer', { AND: [visibleCustomers(viewer), { id: uuid }] }));
  if (!customer) throw failure('NOT_FOUND', 'no such customer', { field });
  return customer.id;
}

/**
 * Returns the UUID of a transaction that the caller may see.
 * @param field the name of the argument
 * @throws GraphQLError NOT_FOUND
 */
export async function visibleTransactionId({ payments, viewer }: Context, id: string, field: string): Promise<string> {
  const uuid = uuidOf(id, 'Transaction');
  const transaction =
    uuid && (await readRow(payments.database, 'Transaction', { AND: [visibleTransactions(viewer), { id: uuid }] }));
  if (!transaction) throw failure('NOT_FOUND', 'no such transaction', { field });
  return transaction.id;
}
