import { isIdempotencyKey, keyedOperation } from '../../core/idempotency.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import type { AccountKind } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import type { Operation } from '../access/operations.ts';
import type { StoredResult } from '../access/run-idempotent.ts';
import type { PlanRefusal } from '../ledger/commit.ts';
import type { ResultType } from '../ledger/plan.ts';
import type { Payments } from './command.ts';

/** The outcome of the first call with an idempotency key. It tells a client whether the call took effect. */
export interface Receipt {
  readonly operation: Operation;
  readonly idempotencyKey: string;
  readonly outcome: 'NONE' | 'SUCCEEDED' | 'REFUSED';
  readonly createdAt: Date | null;
  readonly code: RefusalCode | null;
  /** Null for a record without an id. */
  readonly result: { readonly type: ResultType | NonNullable<StoredResult['type']>; readonly row: ResultRow } | null;
}

interface ResultRow {
  readonly id: string;
  readonly kind?: AccountKind;
}

const receiptStatement = statement<{
  createdAt: Date;
  refusal: { code: Exclude<PlanRefusal['code'], 'APPROVAL_REQUIRED'> } | null;
  result: { type?: NonNullable<Receipt['result']>['type']; row?: ResultRow } | null;
}>(
  'receipt',
  'select created_at, refusal, result from idempotency_record where platform_id = $1 and operation = $2 and key = $3',
);

/** Reads the receipt for a key. There is none while the first call is still running. */
export async function readReceipt(
  { database }: Payments,
  caller: Caller,
  operation: Operation,
  idempotencyKey: string,
): Promise<Receipt> {
  // Malformed keys are never stored, and Postgres would reject some of them as parameters.
  const [row] = isIdempotencyKey(idempotencyKey)
    ? await receiptStatement(database.pool, caller.platformId, keyedOperation(caller, operation), idempotencyKey)
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

function presentedCode(operation: Operation, code: Exclude<PlanRefusal['code'], 'APPROVAL_REQUIRED'>): RefusalCode {
  if (code === 'ACCOUNT_EXISTS' || code === 'OTHER_VERSION') return 'CONFLICT';
  const decides = operation === 'approveTransaction' || operation === 'rejectTransaction';
  return decides && code === 'CONFLICT' ? 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' : code;
}
