import { claimOf, type FirstCall, firstCallRuns, firstCallStatement, keyMismatch } from '../../core/idempotency.ts';
import { publicId } from '../../core/ids.ts';
import { refusalIn } from '../../core/refusal.ts';
import type { Database } from '../../infra/database/database.ts';
import { isLockTimeout, waitedForRow } from '../../infra/database/faults.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { trustedJson } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, type Transaction } from '../../infra/database/transaction.ts';
import { commands } from '../../infra/instruments/instruments.ts';
import { noteMade } from '../../infra/instruments/request-facts.ts';
import type { Caller } from './caller.ts';
import { authorize, type Operation } from './operations.ts';
import { recordAct } from './operator-acts.ts';

/** The result of a successful command, as stored for replays. Receipts read `type` and `row`. */
export interface StoredResult {
  readonly type?: 'WebhookEndpoint' | 'WebhookDelivery' | 'ApiToken' | 'ClientToken' | 'Lookup';
  readonly row?: { readonly platform_id: string; readonly id: string };
  readonly [fact: string]: unknown;
}

/** A command's work, run in its transaction. A Refusal rolls everything back and is not stored. */
type Effect<Answer> = (transaction: Transaction) => Promise<{ readonly result: StoredResult; readonly answer: Answer }>;

export type Declared<Answer> = {
  readonly operation: Operation;
  readonly nullClears?: true;
  readonly repeat: (result: StoredResult) => Promise<Answer>;
} & (
  | { readonly effect: Effect<Answer> }
  /** Calls the other services that the effect needs, before the transaction begins. Skipped for a replay. */
  | { readonly prepare: () => Promise<Effect<Answer>> }
);

type Command<Answer> = Declared<Answer> & {
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
};

const claimStatement = statement<object>(
  'claim_key',
  `insert into idempotency_record (platform_id, operation, key, request_hash)
   values ($1, $2, $3, decode($4, 'hex')) on conflict do nothing returning 1`,
);

type Key = readonly [platformId: string, operation: string, key: string, hash: string];

const storeResultStatement = statement<object>(
  'store_result',
  'update idempotency_record set result = $4 where platform_id = $1 and operation = $2 and key = $3',
);

/** Creates a command that works on plain records (`runIdempotent`). Its declaration may depend on the input. */
export function recordCommand<Input extends object, Answer>(
  declare: (database: Database, caller: Caller, input: Input) => Declared<Answer>,
) {
  return async (database: Database, caller: Caller, input: Input, idempotencyKey?: string | null) =>
    runIdempotent(database, caller, { ...declare(database, caller, input), input, idempotencyKey });
}

/**
 * Runs a command that works on plain records, once per idempotency key, in the transaction that stores the key.
 * (Commands that move money or change statuses are plans; see commands/command.ts.)
 * @throws Refusal FORBIDDEN (the caller may not run it), IDEMPOTENCY_MISMATCH, CONFLICT (the first call with the key is
 *   still running), and whatever the command throws. If another transaction has locked a row that the effect needs, the
 *   failure is temporary: the caller gets SERVICE_UNAVAILABLE.
 */
export function runIdempotent<Answer>(
  database: Database,
  caller: Caller,
  command: Command<Answer>,
): Promise<Answer & { readonly replayed: boolean }> {
  return countCommand(command.operation, run(database, caller, command));
}

async function run<Answer>(database: Database, caller: Caller, command: Command<Answer>) {
  authorize(caller, command.operation);
  const claim = claimOf(caller, command);
  const key = claim && ([caller.platformId, claim.operation, claim.key, claim.hash] as const);
  const first = key && 'prepare' in command ? (await firstCallStatement(database.pool, ...key))[0] : undefined;
  if (first) return answerRepeat(first, command);
  const effect = 'prepare' in command ? await command.prepare() : command.effect;
  const outcome = await retryLostRaces(() =>
    inTransaction(database, (transaction) => runClaimed(transaction, caller, key, effect)),
  );
  return 'first' in outcome ? await answerRepeat(outcome.first, command) : { ...outcome.answer, replayed: false };
}

async function runClaimed<Answer>(
  transaction: Transaction,
  caller: Caller,
  key: Key | undefined,
  effect: Effect<Answer>,
): Promise<{ readonly answer: Answer } | { readonly first: FirstCall | undefined }> {
  const { client } = transaction;
  if (key && !(await claimKey(client, key))) {
    const [first] = await firstCallStatement(client, ...key);
    return { first };
  }
  const { result, answer } = await effect(transaction);
  if (caller.operator) {
    const { type, row, ...facts } = result;
    const { operator, platformId } = caller;
    // The result contains no secrets, because it is stored for replays.
    const subject = operator.subject ?? (type && row ? publicId(type, row.id) : undefined);
    await recordAct(transaction, operator, { platformId, subject, after: operator.after ?? trustedJson(facts) });
  }
  if (result.type && result.row) noteMade(publicId(result.type, result.row.id));
  if (key) await storeResultStatement(client, ...key.slice(0, 3), JSON.stringify(result));
  return { answer };
}

/** @throws Refusal CONFLICT if the call that first claimed the key does not finish within the lock timeout */
async function claimKey(client: Transaction['client'], key: Key): Promise<boolean> {
  try {
    return (await claimStatement(client, ...key)).length > 0;
  } catch (error) {
    if (!isLockTimeout(error) || !waitedForRow(error)) throw error;
    throw firstCallRuns();
  }
}

async function answerRepeat<Answer>(first: FirstCall | undefined, { repeat }: Pick<Command<Answer>, 'repeat'>) {
  if (!first?.same) throw keyMismatch();
  return { ...(await repeat(trustedJson<StoredResult>(first.result ?? {}))), replayed: true };
}

/** Counts a command in the metrics by its outcome: done, replayed, failed, or the code of its refusal. */
export async function countCommand<Result extends { readonly replayed: boolean }>(
  operation: Operation,
  running: Promise<Result>,
): Promise<Result> {
  try {
    const result = await running;
    commands.inc({ operation, outcome: result.replayed ? 'replayed' : 'done' });
    return result;
  } catch (error) {
    const code = refusalIn(error)?.code;
    commands.inc({ operation, outcome: code ?? 'failed' });
    throw error;
  }
}
