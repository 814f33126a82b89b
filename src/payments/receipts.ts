import type { Caller } from '../access/caller.ts';
import type { StoredResult } from '../access/run-idempotent.ts';
import { isIdempotencyKey, keyedOperation } from '../core/idempotency.ts';
import type { AccountKind } from '../database/generated/client/client.ts';
import { statement } from '../database/statement.ts';
import type { ResultType } from '../ledger/plan.ts';
import type { Payments } from './command.ts';

/** What came of an idempotency key's first call: the answer to "did it happen?". */
export interface Receipt {
  readonly operation: string;
  readonly idempotencyKey: string;
  /** NONE: nothing was done or refused under the key. */
  readonly outcome: 'NONE' | 'SUCCEEDED' | 'REFUSED';
  /** When the key was first used, or null where it was not. */
  readonly createdAt: Date | null;
  /** The refusal's code, where it was refused. */
  readonly code: string | null;
  /** The thing that it made or changed, by its type and uuid; null where that is no thing with an id. */
  readonly result: { readonly type: ResultType | NonNullable<StoredResult['type']>; readonly row: ResultRow } | null;
}

/** Of the row as it was then, what its public id is made of. */
interface ResultRow {
  readonly id: string;
  readonly kind?: AccountKind;
}

const receiptStatement = statement<{
  createdAt: Date;
  refusal: { code: string } | null;
  result: { type?: NonNullable<Receipt['result']>['type']; row?: ResultRow } | null;
}>(
  'receipt',
  'select created_at, refusal, result from idempotency_record where platform_id = $1 and operation = $2 and key = $3',
);

/** Reads the receipt of a key. A first call that is still under way has none yet. */
export async function readReceipt(
  payments: Payments,
  caller: Caller,
  operation: string,
  idempotencyKey: string,
): Promise<Receipt> {
  // Nothing is ever stored under what has not the form of a key, and Postgres would not take all of it.
  const [row] = isIdempotencyKey(idempotencyKey)
    ? await receiptStatement(
        payments.database.pool,
        caller.platformId,
        keyedOperation(caller, operation),
        idempotencyKey,
      )
    : [];
  if (!row) return { operation, idempotencyKey, outcome: 'NONE', createdAt: null, code: null, result: null };
  return {
    operation,
    idempotencyKey,
    outcome: row.refusal ? 'REFUSED' : 'SUCCEEDED',
    createdAt: row.createdAt,
    code: row.refusal && presentedCode(operation, row.refusal.code),
    result: row.result?.type && row.result.row ? { type: row.result.type, row: row.result.row } : null,
  };
}

/** The code that the caller was told, from the one that the database gave. */
function presentedCode(operation: string, code: string): string {
  if (code === 'ACCOUNT_EXISTS') return 'CONFLICT';
  const decides = operation === 'approveTransaction' || operation === 'rejectTransaction';
  return decides && code === 'CONFLICT' ? 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' : code;
}
