import { claimOf, keyPath } from '../core/idempotency.ts';
import { Refusal } from '../core/refusal.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { retryLostRaces } from '../database/retry.ts';
import { statement } from '../database/statement.ts';
import { inTransaction, type Transaction } from '../database/transaction.ts';
import type { Caller } from './caller.ts';
import { authorize, type Operation } from './operations.ts';

/** What is kept of a command's success, for a repeat of it: by the form that receipts read, where it is a thing. */
export interface StoredResult {
  readonly type?: 'WebhookEndpoint' | 'ApiToken' | 'ClientToken' | 'Lookup';
  readonly row?: { readonly platform_id: string; readonly id: string };
  readonly [fact: string]: unknown;
}

/** What a command does, in the transaction. A Refusal undoes everything and is not kept. */
type Effect<Answer> = (transaction: Transaction) => Promise<{ readonly result: StoredResult; readonly answer: Answer }>;

type Act<Answer> = {
  readonly operation: Operation;
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** The answer to a repeat. */
  readonly repeat: (result: StoredResult) => Promise<Answer>;
} & (
  | { readonly effect: Effect<Answer> }
  /** Asks others what the effect needs, for as long as they take: before the transaction, and not for a repeat. */
  | { readonly prepare: () => Promise<Effect<Answer>> }
);

const claimStatement = statement<object>(
  'claim_key',
  `insert into idempotency_record (platform_id, operation, key, request_hash)
   values ($1, $2, $3, decode($4, 'hex')) on conflict do nothing returning 1`,
);

interface First {
  readonly same: boolean;
  readonly result: StoredResult;
}

const firstStatement = statement<First>(
  'kept_result',
  `select request_hash = decode($4, 'hex') as same, coalesce(result, '{}') as result
   from idempotency_record where platform_id = $1 and operation = $2 and key = $3`,
);

const keepStatement = statement<object>(
  'keep_result',
  'update idempotency_record set result = $4 where platform_id = $1 and operation = $2 and key = $3',
);

/**
 * Carries out a command on plain records once per idempotency key, in one transaction with its key. (Commands that move
 * money or statuses are plans: payments/command.ts.)
 * @throws Refusal FORBIDDEN (the caller may not carry it out), IDEMPOTENCY_MISMATCH, CONFLICT (the key's first call is under
 *   way), and what the act throws
 */
export async function runIdempotent<Answer>(
  database: Database,
  caller: Caller,
  act: Act<Answer>,
): Promise<Answer & { readonly replayed: boolean }> {
  authorize(caller, act.operation);
  const claim = claimOf(caller, act);
  const key = claim && ([caller.platformId, claim.operation, claim.key, claim.hash] as const);
  const first = key && 'prepare' in act ? (await firstStatement(database.pool, ...key))[0] : undefined;
  if (first) return repeated(first, act);
  const effect = 'prepare' in act ? await act.prepare() : act.effect;
  try {
    const outcome = await retryLostRaces(() =>
      inTransaction(database, (transaction) => claimed(transaction, key, effect)),
    );
    return 'first' in outcome ? await repeated(outcome.first, act) : { ...outcome.answer, replayed: false };
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      path: keyPath,
      retryAfter: 1,
    });
  }
}

/** The effect, with its key; or what the key's first call has kept. */
async function claimed<Answer>(
  transaction: Transaction,
  key: readonly [platformId: string, operation: string, key: string, hash: string] | undefined,
  effect: Effect<Answer>,
): Promise<{ readonly answer: Answer } | { readonly first: First | undefined }> {
  const { client } = transaction;
  if (key && (await claimStatement(client, ...key)).length === 0) {
    const [first] = await firstStatement(client, ...key);
    return { first };
  }
  const { result, answer } = await effect(transaction);
  if (key) await keepStatement(client, ...key.slice(0, 3), JSON.stringify(result));
  return { answer };
}

async function repeated<Answer>(first: First | undefined, { repeat }: Pick<Act<Answer>, 'repeat'>) {
  if (!first?.same) {
    throw new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was used before with another input', {
      path: keyPath,
    });
  }
  return { ...(await repeat(first.result)), replayed: true };
}
