import type { Logger } from 'pino';
import { comparableAmount, currencyOf, type GivenAmount } from '../../core/currencies.ts';
import type { Cursors } from '../../core/cursors.ts';
import { claimOf, keyPath } from '../../core/idempotency.ts';
import { accountPublicId, publicId } from '../../core/ids.ts';
import { databaseBusy, type Expecting, Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import type { Environment } from '../../infra/database/generated/client/client.ts';
import type { Account, SnapshotRows } from '../../infra/database/rows.ts';
import { noteMade } from '../../infra/instruments/request-facts.ts';
import type { Rail } from '../../rails/rail.ts';
import type { Simulation } from '../../rails/simulation.ts';
import type { Caller } from '../access/caller.ts';
import { countCommand } from '../access/count-command.ts';
import { authorize, type Operation } from '../access/operations.ts';
import { maySeePolicyOf } from '../access/visible.ts';
import {
  commitPlan,
  firstOutcome,
  type LimitState,
  type Outcome,
  validatePlan,
  waitedForKey,
} from '../ledger/commit.ts';
import { LockTimeout } from '../ledger/commit-lanes.ts';
import type { Plan, ResultType } from '../ledger/plan.ts';
import { planRefusal, type RefusalOptions } from './plan-refusals.ts';
import { waitingPlan } from './waiting.ts';

export interface Payments {
  readonly database: Database;
  readonly rails: { readonly [E in Environment]?: Rail };
  readonly quoteSeconds: number;
  /** How long a platform has to approve or reject an incoming payment, in milliseconds (decision 33). */
  readonly approvalMs: number;
  readonly cursors: Cursors;
  readonly log: Logger;
  /** Set for a dry run: a command is carried out and rolled back, and hands over what it would have made. */
  readonly validateOnly?: ((validated: Validated) => void) | undefined;
}

/** What a command that was rolled back would have made. */
export interface Validated {
  readonly row: SnapshotRows[ResultType];
  /** The limits of the policies that would count the payment, with the payment in them: of those that the caller may see. */
  readonly limits: readonly LimitState[];
  /** Until when it would have to be approved; null where it needs no approval. */
  readonly approvalDueAt: Date | null;
}

export function connectedRail({ rails }: Pick<Payments, 'rails'>, tenant: Tenant): Rail | undefined {
  const rail = rails[tenant.environment];
  return rail?.forPlatform?.(tenant.platformId) ?? rail;
}

/** What a command can need a rail for, as worded in a refusal. */
const abilities = {
  rate: 'does not convert currencies',
  payOut: 'does not pay out',
  collect: 'does not collect money',
  giveBack: 'does not return money',
  lookUp: 'does not look up receivers',
  paymentInstructions: 'does not accept deposits',
} as const satisfies { readonly [Part in keyof Rail]?: string };

export type RailWith<Ability extends keyof typeof abilities> = Rail & Required<Pick<Rail, Ability>>;

/**
 * Returns the rail of a tenant, which has the parts that the command needs.
 * @throws Refusal SERVICE_UNAVAILABLE where none is connected, or it lacks one of these
 */
export function railOf<Ability extends keyof typeof abilities>(
  payments: Payments,
  tenant: Tenant,
  ...needed: readonly Ability[]
): RailWith<Ability> {
  const rail = connectedRail(payments, tenant);
  if (!rail) throw new Refusal('SERVICE_UNAVAILABLE', `no rail is connected for ${tenant.environment} platforms`);
  const missing = needed.find((ability) => rail[ability] === undefined);
  if (missing) {
    throw new Refusal('SERVICE_UNAVAILABLE', `the rail of ${tenant.environment} platforms ${abilities[missing]}`);
  }
  // Every needed part was found.
  return rail as RailWith<Ability>;
}

/**
 * Returns the simulation of the outside world for a tenant.
 * @throws Refusal FORBIDDEN where its rail simulates nothing
 */
export function simulationOf(payments: Payments, tenant: Tenant): Simulation {
  const simulation = connectedRail(payments, tenant)?.simulation;
  if (!simulation) throw new Refusal('FORBIDDEN', 'this is possible only for sandbox platforms');
  return simulation;
}

/** The success of a command: its row right after it, and whether this repeats an earlier answer. */
export interface CommandResult<Row> {
  readonly row: Row;
  readonly replayed: boolean;
}

/** The plan of a command, without its claim. `result` is the uuid of the row to return. */
export type CommandPlan = Omit<Plan, 'claim' | 'result'> & { readonly result: string };

export interface Command<Type extends ResultType> extends RefusalOptions {
  /** The operation, which decides the permission and the scope of idempotency keys. */
  readonly operation: Operation;
  readonly type: Type;
  /** The input without the key: a repeat must have the same. Its `expectedVersion` is that of the row of the result. */
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** The field of the input that is an amount, and how its currency is found: as a decimal it is the same input. */
  readonly amount?: { readonly field: string; readonly currency: () => Promise<string | undefined> };
  /** Whether a null clears a field of the input, and an absent field stays unchanged. */
  readonly nullClears?: true;
  /**
   * Validates the input, reads what it needs, and makes the plan.
   * @throws Refusal for an input that cannot be carried out
   */
  readonly plan: () => Promise<CommandPlan>;
  /**
   * Whether the plan only reads the database, so that making it again for a repeat is harmless. Then the key is not
   * looked up first, which saves the usual call a round trip.
   */
  readonly readsOnly?: true;
}

/** A command of the APIs: runs with an input, and once per idempotency key. */
type Runs<Input, Row> = (
  payments: Payments,
  caller: Caller,
  input: Input,
  idempotencyKey?: string | null,
) => Promise<CommandResult<Row>>;

/** Makes a command of its declaration, which may depend on the input. */
export function command<Input extends object, Type extends ResultType>(
  declare: (...call: Parameters<Runs<Input, unknown>>) => Omit<Command<Type>, 'input' | 'idempotencyKey'>,
): Runs<Input, SnapshotRows[Type]> {
  return (payments, caller, input, idempotencyKey) => {
    const declared = declare(payments, caller, input, idempotencyKey);
    return runCommand(payments, caller, { ...declared, input, idempotencyKey });
  };
}

/**
 * Runs a command once per idempotency key: a repeat gets the first outcome.
 * @throws Refusal FORBIDDEN (the caller may not run it), and the refusals of the command
 */
export function runCommand<Type extends ResultType>(
  payments: Payments,
  caller: Caller,
  command: Command<Type>,
): Promise<CommandResult<SnapshotRows[Type]>> {
  if (payments.validateOnly) return validate(payments, caller, command, payments.validateOnly);
  return countCommand(command.operation, run(payments, caller, command)).then((result) => {
    noteMade(idOf(command.type, result.row));
    return result;
  });
}

/** Carries a command out and rolls it back. Nothing is stored under its key, nor looked for. */
async function validate<Type extends ResultType>(
  { database }: Payments,
  caller: Caller,
  command: Command<Type>,
  done: (validated: Validated) => void,
): Promise<CommandResult<SnapshotRows[Type]>> {
  authorize(caller, command.operation);
  const { result: id, ...plan } = await command.plan();
  const result = { type: command.type, id };
  let approvalDueAt: Date | null = null;
  const { outcome, policies } = await orWaiting({ ...plan, result }, async (one, dueAt) => {
    approvalDueAt = dueAt;
    return validatePlan(database, caller.platformId, one);
  });
  const made = toResult(outcome, command, caller);
  const seen = policies.filter(({ subjectId }) => maySeePolicyOf(caller, subjectId));
  done({ row: made.row, limits: seen.flatMap(({ limits }) => limits), approvalDueAt });
  return made;
}

async function run<Type extends ResultType>(payments: Payments, caller: Caller, command: Command<Type>) {
  authorize(caller, command.operation);
  const { database } = payments;
  const claim = claimOf(caller, { ...command, input: await comparableInput(command) });
  const readFirst = async () => claim && (await firstOutcome(database, caller.platformId, claim));
  const first = command.readsOnly ? undefined : await readFirst();
  if (first) return toResult(first, command, caller);

  const planned = await command.plan().catch(async (error: unknown) => {
    // A repeat gets the first outcome, whatever has changed since.
    const earlier = command.readsOnly && (await readFirst());
    if (earlier) return earlier;
    throw error;
  });
  if ('kind' in planned) return toResult(planned, command, caller);
  const { result, ...plan } = planned;
  try {
    const row = { type: command.type, id: result };
    const { expectedVersion: version } = command.input as Expecting;
    const { outcome } = await orWaiting(
      { ...plan, claim, ...(version != null && { expected: { ...row, version } }), result: row },
      async (one) => ({ outcome: await commitPlan(database, caller.platformId, one) }),
    );
    return toResult(outcome, command, caller);
  } catch (error) {
    if (error instanceof LockTimeout) {
      throw new Refusal('SERVICE_UNAVAILABLE', waits[error.for], { retryAfter: 1 });
    }
    if (sqlState(error) !== '55P03' || !waitedForKey(error)) throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      path: keyPath,
      retryAfter: 1,
    });
  }
}

/** Carries a plan out; where a policy demands an approval, the plan that waits for it. The database decides again about both. */
async function orWaiting<Done extends { readonly outcome: Outcome }>(
  plan: Plan,
  carryOut: (plan: Plan, dueAt: Date | null) => Promise<Done>,
): Promise<Done> {
  const done = await carryOut(plan, null);
  const refusal = done.outcome.kind === 'refused' ? done.outcome.refusal : undefined;
  if (refusal?.code !== 'APPROVAL_REQUIRED') return done;
  return carryOut(waitingPlan(plan, refusal), new Date(refusal.dueAt));
}

/** Returns an input as a repeat is compared with: both forms of an amount are one. Only a decimal costs a read. */
async function comparableInput({
  input,
  amount,
  idempotencyKey,
}: Pick<Command<ResultType>, 'input' | 'amount' | 'idempotencyKey'>) {
  const given = amount && (input as Readonly<Record<string, GivenAmount | null | undefined>>)[amount.field];
  if (!idempotencyKey || !amount || typeof given !== 'object' || given === null) return input;
  // What cannot be found is refused when the command is planned.
  const currency = await amount.currency().catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  return { ...input, [amount.field]: comparableAmount(given, currencyOf(currency ?? '')) };
}

const waits: Readonly<Record<LockTimeout['for'], string>> = {
  account: 'too many concurrent payments on the same account; try again',
  table: databaseBusy,
  turn: 'too many concurrent payments; try again',
};

function idOf(type: ResultType, row: SnapshotRows[ResultType]): string {
  // A row of the named type.
  return type === 'Account' ? accountPublicId((row as Account).kind, row.id) : publicId(type, row.id);
}

function toResult<Type extends ResultType>(outcome: Outcome, command: Command<Type>, caller: Caller) {
  switch (outcome.kind) {
    case 'mismatch':
      throw new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was used before with another input', keyPath);
    case 'refused':
      throw planRefusal(outcome.refusal, command, caller, outcome.replayed);
    case 'done':
      if (!outcome.row) throw new Error(`${command.operation} has no result`);
      // The row has the type that the plan names, which is the type of the command.
      return { row: outcome.row as SnapshotRows[Type], replayed: outcome.replayed };
  }
}
