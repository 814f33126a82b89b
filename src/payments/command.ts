import type { Logger } from 'pino';
import type { Caller } from '../access/caller.ts';
import { authorize, type Operation } from '../access/operations.ts';
import { claimOf, keyPath } from '../core/idempotency.ts';
import { Refusal } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import type { Environment } from '../database/generated/client/client.ts';
import type { SnapshotRows } from '../database/rows.ts';
import { commitPlan, firstOutcome, type Outcome } from '../ledger/commit.ts';
import { LockTimeout } from '../ledger/commit-lanes.ts';
import type { Plan, ResultType } from '../ledger/plan.ts';
import type { Rail } from '../rails/rail.ts';
import type { Simulation } from '../rails/simulation.ts';
import { type PlanWords, planRefusal } from './plan-refusals.ts';

/** What the domain works with. */
export interface Payments {
  readonly database: Database;
  /** The rail of each environment. A production rail is connected by an installation of its own. */
  readonly rails: { readonly [E in Environment]?: Rail };
  /** How long a quote holds its rate, in seconds. */
  readonly quoteSeconds: number;
  /** How long a platform has to approve or reject an incoming payment, in milliseconds (decision 33). */
  readonly approvalMs: number;
  readonly log: Logger;
}

/** The rail that serves a tenant's environment. */
export function railOf(payments: Payments, tenant: Tenant): Rail {
  const rail = payments.rails[tenant.environment];
  if (!rail) throw new Refusal('SERVICE_UNAVAILABLE', `no rail is connected for ${tenant.environment} platforms`);
  return rail;
}

/**
 * What a tenant may have the world outside do.
 * @throws Refusal FORBIDDEN where its rail simulates nothing
 */
export function simulationOf(payments: Payments, tenant: Tenant): Simulation {
  const simulation = payments.rails[tenant.environment]?.simulation;
  if (!simulation) throw new Refusal('FORBIDDEN', 'only sandbox platforms can simulate the world outside');
  return simulation;
}

/** A command's success: its row as it was right after, and whether this repeats an earlier answer. */
export interface Done<Row> {
  readonly row: Row;
  readonly replayed: boolean;
}

/** What a command wants done, but for its key; `result` is the uuid of the row that it answers. */
export type CommandPlan = Omit<Plan, 'claim' | 'result'> & { readonly result: string };

export interface Command<Type extends ResultType> extends PlanWords {
  /** What is done: its permission, and the scope of its idempotency keys. */
  readonly operation: Operation;
  readonly type: Type;
  /** What was asked, without the key: a repeat must ask the same. */
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** Validates, reads what it needs, and decides. Throws a Refusal when the input cannot be carried out. */
  readonly plan: () => Promise<CommandPlan>;
  /**
   * Its plan asks nobody but the database, so a repeat may make it once more: the key is not looked up before it, and
   * the usual call is a round trip shorter.
   */
  readonly readsOnly?: true;
}

/**
 * Runs a command once per idempotency key: the first outcome is every outcome.
 * @throws Refusal FORBIDDEN (the caller may not carry it out), and the refusals of the command
 */
export async function runCommand<Type extends ResultType>(
  payments: Payments,
  caller: Caller,
  command: Command<Type>,
): Promise<Done<SnapshotRows[Type]>> {
  authorize(caller, command.operation);
  const { database } = payments;
  const claim = claimOf(caller, command);
  const firstNow = async () => claim && (await firstOutcome(database, caller.platformId, claim));
  const first = command.readsOnly ? undefined : await firstNow();
  if (first) return present(first, command, caller);

  const planned = await command.plan().catch(async (error: unknown) => {
    // A repeat is told the first outcome, whatever has changed since.
    const before = command.readsOnly && (await firstNow());
    if (before) return before;
    throw error;
  });
  if ('kind' in planned) return present(planned, command, caller);
  const { result, ...plan } = planned;
  try {
    const outcome = await commitPlan(database, caller.platformId, {
      ...plan,
      claim,
      result: { type: command.type, id: result },
    });
    return present(outcome, command, caller);
  } catch (error) {
    if (error instanceof LockTimeout) {
      throw new Refusal('SERVICE_UNAVAILABLE', 'too many payments of the same account at once; try again', {
        retryAfter: 1,
      });
    }
    if (sqlState(error) !== '55P03') throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      path: keyPath,
      retryAfter: 1,
    });
  }
}

function present<Type extends ResultType>(
  outcome: Outcome,
  command: Command<Type>,
  caller: Caller,
): Done<SnapshotRows[Type]> {
  switch (outcome.kind) {
    case 'mismatch':
      throw new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was used before with another input', {
        path: keyPath,
      });
    case 'refused':
      throw planRefusal(outcome.refusal, command, caller, outcome.replayed);
    case 'done':
      if (!outcome.row) throw new Error(`${command.operation} has no result`);
      // The row is of the type that the plan asked for, which is the command's.
      return { row: outcome.row as SnapshotRows[Type], replayed: outcome.replayed };
  }
}
