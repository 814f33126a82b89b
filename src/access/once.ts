import type pg from 'pg';
import { claimOf, keyPath } from '../core/idempotency.ts';
import { Refusal } from '../core/refusal.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { retryLostRaces } from '../database/retry.ts';
import { statement } from '../database/statement.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Caller } from './caller.ts';
import { authorize, type Operation } from './operations.ts';

/** What is kept of a command's success, for a repeat of it: by the form that receipts read, where it is a thing. */
export interface Kept {
  readonly type?: 'WebhookEndpoint' | 'ApiToken' | 'ClientToken';
  readonly row?: { readonly platform_id: string; readonly id: string };
  readonly [fact: string]: unknown;
}

interface Act<Answer> {
  readonly operation: Operation;
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** Does it, in the transaction of `client`. A Refusal undoes everything and is not kept. */
  readonly effect: (client: pg.PoolClient) => Promise<{ readonly kept: Kept; readonly answer: Answer }>;
  /** The answer to a repeat. */
  readonly repeat: (kept: Kept) => Promise<Answer>;
}

const claimStatement = statement<object>(
  'claim_key',
  `insert into idempotency_record (platform_id, operation, key, request_hash)
   values ($1, $2, $3, decode($4, 'hex')) on conflict do nothing returning 1`,
);

const keptStatement = statement<{ same: boolean; result: Kept }>(
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
 * @throws Refusal FORBIDDEN (the caller may not carry it out), IDEMPOTENCY_MISMATCH, CONFLICT, and what `effect` throws
 */
export async function once<Answer>(
  database: Database,
  caller: Caller,
  act: Act<Answer>,
): Promise<Answer & { readonly replayed: boolean }> {
  authorize(caller, act.operation);
  const claim = claimOf(caller, act);
  const key = claim && [caller.platformId, claim.operation, claim.key];
  try {
    const outcome = await retryLostRaces(() =>
      inTransaction(database, async (client) => {
        if (claim && key && (await claimStatement(client, ...key, claim.hash)).length === 0) {
          const [first] = await keptStatement(client, ...key, claim.hash);
          return { kind: 'repeat', first } as const;
        }
        const { kept, answer } = await act.effect(client);
        if (key) await keepStatement(client, ...key, JSON.stringify(kept));
        return { kind: 'done', answer } as const;
      }),
    );
    if (outcome.kind === 'done') return { ...outcome.answer, replayed: false };
    if (!outcome.first?.same) {
      throw new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was used before with another input', {
        path: keyPath,
      });
    }
    return { ...(await act.repeat(outcome.first.result)), replayed: true };
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      path: keyPath,
      retryAfter: 1,
    });
  }
}
