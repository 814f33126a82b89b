import type { Logger } from 'pino';
import type { Caller } from '../access/caller.ts';
import { authorize, type Operation } from '../access/operations.ts';
import { maySee, seesAny } from '../access/visible.ts';
import { claimOf } from '../core/idempotency.ts';
import { publicId } from '../core/ids.ts';
import { Refusal, type RefusalCode } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import type { Environment } from '../database/generated/client/client.ts';
import type { SnapshotRows } from '../database/rows.ts';
import { commitPlan, firstOutcome, type Outcome, type PlanRefusal } from '../ledger/commit.ts';
import { HeldUp } from '../ledger/commit-lanes.ts';
import type { Plan, ResultType } from '../ledger/plan.ts';
import type { Rail } from '../rails/rail.ts';
import type { Simulation } from '../rails/simulation.ts';

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

export interface Command<Type extends ResultType> {
  /** What is done: its permission, and the scope of its idempotency keys. */
  readonly operation: Operation;
  readonly type: Type;
  /** What was asked, without the key: a repeat must ask the same. */
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** Validates, reads what it needs, and decides. Throws a Refusal when the input cannot be carried out. */
  readonly plan: () => Promise<Omit<Plan, 'claim' | 'result'> & { readonly result: string }>;
  /**
   * Its plan asks nobody but the database, so a repeat may make it once more: the key is not looked up before it, and
   * the usual call is a round trip shorter.
   */
  readonly readsOnly?: true;
  /** The input field to blame for a refusal that the database gave; by the id that it is about, where it may be of several. */
  readonly fields?: Partial<Record<PlanRefusal['code'], string | ((id: string) => string)>>;
  /** The operation's own code and reason for a status that does not allow it; CONFLICT and a general reason when left out. */
  readonly conflict?: { readonly code?: RefusalCode; readonly reason?: string };
}

/**
 * Runs a command once per idempotency key: the first outcome is every outcome.
 * @throws Refusal FORBIDDEN (the caller may not carry it out), and the refusals of the command
 */
export async function run<Type extends ResultType>(
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

  const made = await command.plan().catch(async (error: unknown) => {
    // A repeat is told the first outcome, whatever has changed since.
    const before = command.readsOnly && (await firstNow());
    if (before) return before;
    throw error;
  });
  if ('kind' in made) return present(made, command, caller);
  const { result, ...plan } = made;
  try {
    const outcome = await commitPlan(database, caller.platformId, {
      ...plan,
      claim,
      result: { type: command.type, id: result },
    });
    return present(outcome, command, caller);
  } catch (error) {
    if (error instanceof HeldUp) {
      throw new Refusal('SERVICE_UNAVAILABLE', 'too many payments of the same account at once; try again', {
        retryAfter: 1,
      });
    }
    if (sqlState(error) !== '55P03') throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      field: 'idempotencyKey',
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
        field: 'idempotencyKey',
      });
    case 'refused':
      throw fromPlan(outcome.refusal, command, caller, outcome.replayed);
    case 'done':
      if (!outcome.row) throw new Error(`${command.operation} has no result`);
      // The row is of the type that the plan asked for, which is the command's.
      return { row: outcome.row as SnapshotRows[Type], replayed: outcome.replayed };
  }
}

/** Why an account cannot take what would come to it. What it has is not told: whoever pays need not own it. */
export function fullAccount({ id, limit }: Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' }>): string {
  return `${publicId('InternalAccount', id)} may hold at most ${limit} (smallest units), and this would bring it beyond`;
}

/** The words for what the database saw under its lock, as far as the caller may see it. */
function fromPlan(refusal: PlanRefusal, command: Command<ResultType>, caller: Caller, replayed: boolean): Refusal {
  const blamed = command.fields?.[refusal.code];
  const field = typeof blamed === 'function' ? blamed('id' in refusal ? refusal.id : '') : blamed;
  switch (refusal.code) {
    case 'QUOTE_NOT_FOUND':
      return new Refusal(refusal.code, 'no such quote', { field }, replayed);
    case 'TRANSACTION_NOT_FOUND':
      return new Refusal(refusal.code, 'no such transaction', { field }, replayed);
    case 'QUOTE_EXPIRED':
      return new Refusal(
        refusal.code,
        `the quote expired at ${new Date(refusal.expiresAt).toISOString()}; create a new one`,
        { field },
        replayed,
      );
    case 'CONFLICT':
      return new Refusal(
        command.conflict?.code ?? refusal.code,
        `${command.conflict?.reason ?? 'this is not possible any more'}: it is ${refusal.status}`,
        { field, status: refusal.status },
        replayed,
      );
    case 'UMA_ADDRESS_EXISTS':
      return new Refusal(refusal.code, 'this UMA address is taken', { field }, replayed);
    case 'CUSTOMER_DELETED':
      return new Refusal(refusal.code, 'the customer is deleted', { field }, replayed);
    case 'ACCOUNT_EXISTS':
      return new Refusal(
        'CONFLICT',
        `this account already exists: it is ${publicId('ExternalAccount', refusal.id)}`,
        { field, existingId: publicId('ExternalAccount', refusal.id) },
        replayed,
      );
    case 'USER_NOT_READY':
      if (!maySee('customer', caller, refusal)) {
        return new Refusal(refusal.code, 'a customer who takes part cannot move money', { field }, replayed);
      }
      return new Refusal(
        refusal.code,
        refusal.isDeleted
          ? 'the customer is deleted and cannot move money'
          : `the customer cannot move money: KYC is ${refusal.kycStatus}`,
        { field, customerId: publicId('Customer', refusal.id) },
        replayed,
      );
    case 'INVALID_BANK_ACCOUNT':
      // An app can pay to an account of somebody else's, by a quote that its platform made.
      if (caller.bound.kind !== 'PLATFORM') {
        return new Refusal(refusal.code, 'an external account that takes part is not ACTIVE', { field }, replayed);
      }
      return new Refusal(
        refusal.code,
        `the external account is ${refusal.status}; only an ACTIVE one can take part`,
        { field, status: refusal.status },
        replayed,
      );
    case 'INSUFFICIENT_BALANCE':
      // A customer's app pays from accounts of its customer: it sees them all, or none.
      if (!seesAny('account', caller)) {
        return new Refusal(refusal.code, 'the account does not hold enough', { field }, replayed);
      }
      return new Refusal(
        refusal.code,
        `the account holds ${refusal.spendable} spendable and ${refusal.needed} are needed (smallest units)`,
        { field, spendable: refusal.spendable, needed: refusal.needed },
        replayed,
      );
    case 'AMOUNT_OUT_OF_RANGE': {
      if (!seesAny('account', caller)) {
        const words = `the account that receives may hold at most ${refusal.limit} (smallest units)`;
        return new Refusal(refusal.code, words, { field, limit: refusal.limit }, replayed);
      }
      const facts = { accountId: publicId('InternalAccount', refusal.id), limit: refusal.limit };
      return new Refusal(refusal.code, fullAccount(refusal), { field, ...facts }, replayed);
    }
  }
}
