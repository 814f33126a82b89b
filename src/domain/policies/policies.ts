import { type GivenAmount, givenCurrency, smallestUnits } from '../../core/currencies.ts';
import { accountNameIn, publicId, uuidOf } from '../../core/ids.ts';
import {
  checkAll,
  checkNotEmpty,
  checkVersion,
  type Expecting,
  type FieldPath,
  invalid,
  pathsIn,
  Refusal,
} from '../../core/refusal.ts';
import { lockPlatform } from '../../core/tenant.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import {
  type PaymentKind,
  type Policy,
  type PolicyRelease,
  Prisma,
} from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import { readClock, type Transaction } from '../../infra/database/transaction.ts';
import type { Caller, Viewer } from '../access/caller.ts';
import { recordCommand } from '../access/run-idempotent.ts';
import { maySeePolicyOf, visibleAccounts, visibleCustomers, visibleToPlatform } from '../access/visible.ts';
import { checkCountry } from '../commands/information.ts';
import { checkUmaAddress } from '../commands/uma-addresses.ts';
import type { LimitState } from '../ledger/commit.ts';

/** A policy limit, on an amount in one currency or on a number of payments. */
interface GivenLimit {
  readonly period: LimitState['period'];
  readonly currency?: string | null | undefined;
  readonly amount?: GivenAmount | null | undefined;
  readonly payments?: number | null | undefined;
}

/** Which payments a second person must approve, and what happens to them in the meantime. */
interface GivenApproval {
  readonly always: boolean;
  readonly above: readonly { readonly currency: string; readonly amount: GivenAmount }[];
  readonly newReceivers: boolean;
  /** Whether the money is taken from the account immediately. */
  readonly reserves: boolean;
  readonly expiresInSeconds: number;
}

/** The stored form. Amounts are strings of digits, because JSON numbers would be rounded. */
export type StoredApproval = Pick<GivenApproval, 'always' | 'newReceivers' | 'reserves' | 'expiresInSeconds'> & {
  readonly above: { readonly currency: string; readonly amount: string }[];
};

/** The longest time that a payment can await approval, in seconds: 30 days. */
export const maxApprovalSeconds = 2_592_000;

interface SetPolicy extends Expecting {
  readonly subjectId: string;
  readonly limits: readonly GivenLimit[];
  readonly kinds?: readonly PaymentKind[] | null | undefined;
  readonly receiverAccountIds?: readonly string[] | null | undefined;
  readonly receiverCountries?: readonly string[] | null | undefined;
  readonly receiverUmaAddresses?: readonly string[] | null | undefined;
  readonly hoursFrom?: string | null | undefined;
  readonly hoursTo?: string | null | undefined;
  readonly timeZone: string;
  readonly releaseOn: readonly PolicyRelease[];
  readonly approval?: GivenApproval | null | undefined;
}

const at = pathsIn<SetPolicy>();

const lockStatement = statement<object>(
  'lock_policy',
  'select from policy where platform_id = $1 and subject_id = $2 for no key update',
);

type Terms = Omit<Prisma.PolicyUncheckedCreateInput, 'platformId' | 'subjectType' | 'subjectId'>;

/**
 * Sets the policy of an API token, a client token, a customer or the platform, replacing any previous one. Payments
 * that the previous policy has counted still count.
 * @throws Refusal FORBIDDEN (a policy limits the caller's token or one that created it), INVALID_INPUT, INVALID_AMOUNT,
 *   AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY, INVALID_UMA_ADDRESS, USER_NOT_FOUND, TOKEN_NOT_FOUND, ACCOUNT_NOT_FOUND
 */
export const setPolicy = recordCommand((database, caller, input: SetPolicy) => ({
  operation: 'setPolicy',
  prepare: async () => {
    const subject = subjectIn(input.subjectId);
    const terms = termsOf(input);
    await requireTimeZone(database, input.timeZone);
    return async (transaction) => {
      await begin(transaction, caller, subject);
      await requireAccounts(transaction, caller, input.receiverAccountIds ?? []);
      const key = { platformId: caller.platformId, subjectId: subject.uuid };
      // Payments that begin after this lock is taken are counted under the new terms.
      await lockStatement(transaction.client, key.platformId, key.subjectId);
      const { now: updatedAt } = await readClock(transaction.client);
      const { policy: policies } = transaction.prisma;
      const found = await policies.findFirst({ where: key });
      checkPolicy(input, found);
      const policy = found
        ? await policies.update({ where: { platformId_subjectId: key }, data: { ...terms, updatedAt } })
        : await policies.create({ data: { ...key, subjectType: subject.type, ...terms } });
      return { result: {}, answer: { policy } };
    };
  },
  repeat: async () => {
    const { uuid: subjectId } = subjectIn(input.subjectId);
    const policy = await database.prisma.policy.findFirst({
      where: { AND: [visibleToPlatform(caller), { subjectId }] },
    });
    if (policy) return { policy };
    const message = 'an earlier request with this key set the policy, which has since been deleted';
    throw new Refusal('CONFLICT', message, ['subjectId']);
  },
}));

/**
 * Deletes the policy of an API token, a client token, a customer or the platform, along with the policy's records of
 * counted payments.
 * @returns the policy's id, or null if there was none
 * @throws Refusal FORBIDDEN (a policy limits the caller's token or one that created it), INVALID_INPUT, USER_NOT_FOUND,
 *   TOKEN_NOT_FOUND
 */
export const deletePolicy = recordCommand((_database, caller, input: { readonly subjectId: string } & Expecting) => ({
  operation: 'deletePolicy',
  effect: async (transaction) => {
    const subject = subjectIn(input.subjectId);
    await begin(transaction, caller, subject);
    const { policy, policyUse } = transaction.prisma;
    const found = await policy.findFirst({ where: { AND: [visibleToPlatform(caller), { subjectId: subject.uuid }] } });
    checkPolicy(input, found);
    if (found) {
      // Once this row is deleted, the policy no longer counts any payments.
      await policy.deleteMany({ where: { platformId: found.platformId, id: found.id } });
      await policyUse.deleteMany({ where: { platformId: found.platformId, policyId: found.id } });
    }
    const deletedId = found ? publicId('Policy', found.id) : null;
    return { result: { deletedId }, answer: { deletedId } };
  },
  repeat: async ({ deletedId }) => ({ deletedId: typeof deletedId === 'string' ? deletedId : null }),
}));

/** Checks the expected version, which is 0 for a subject without a policy. @throws Refusal CONFLICT */
function checkPolicy(input: Expecting, found: Policy | null): void {
  checkVersion(input, found && publicId('Policy', found.id), found?.version ?? 0);
}

/**
 * Serializes changes to the platform's policies, and checks that the given subject exists.
 * @throws Refusal FORBIDDEN if a policy limits the caller's token
 */
async function begin(transaction: Transaction, caller: Caller, subject: Subject): Promise<void> {
  const { client, prisma } = transaction;
  await lockPlatform(client, caller);
  const own = { platformId: caller.platformId, subjectId: { in: [...caller.makers] } };
  if (await prisma.policy.findFirst({ where: own, select: { id: true } })) {
    const message = 'a policy limits this token, or a token that created it, so it cannot change policies';
    throw new Refusal('FORBIDDEN', message);
  }
  await requireSubject(transaction, caller, subject);
}

type Subject = ReturnType<typeof subjectIn>;

/** Parses the public id of a subject. @throws Refusal INVALID_INPUT for an id of any other type */
function subjectIn(id: string) {
  for (const type of ['ApiToken', 'ClientToken', 'Customer', 'Platform'] as const) {
    const uuid = uuidOf(id, type);
    if (uuid !== undefined) return { type, uuid };
  }
  throw invalid('a policy must be for an API token, a client token, a customer or the platform', ['subjectId']);
}

async function requireSubject({ prisma }: Transaction, caller: Caller, { type, uuid: id }: Subject): Promise<void> {
  const path = at('subjectId');
  if (type === 'Platform') {
    if (id !== caller.platformId) throw invalid('a platform can only set its own policy', path);
  } else if (type === 'Customer') {
    const count = await prisma.customer.count({ where: { AND: [visibleCustomers(caller), { id }] } });
    if (count === 0) throw new Refusal('USER_NOT_FOUND', 'no such customer', path);
  } else {
    const where = { AND: [visibleToPlatform(caller), { id }] };
    const count = await (type === 'ApiToken' ? prisma.apiToken.count({ where }) : prisma.clientToken.count({ where }));
    if (count === 0) throw new Refusal('TOKEN_NOT_FOUND', 'no such token', path);
  }
}

async function requireAccounts({ prisma }: Transaction, caller: Caller, ids: readonly string[]) {
  const named = ids.map(accountNameIn);
  const found = await prisma.account.findMany({
    where: { AND: [visibleAccounts(caller), { id: { in: named.flatMap((name) => name?.id ?? []) } }] },
    select: { id: true, kind: true },
  });
  for (const [position, name] of named.entries()) {
    if (!found.some(({ id, kind }) => id === name?.id && kind === name.kind))
      throw new Refusal('ACCOUNT_NOT_FOUND', 'no such account', at('receiverAccountIds', position));
  }
}

function termsOf(input: SetPolicy): Terms {
  const { hoursFrom = null, hoursTo = null, timeZone } = input;
  const [limits, approval, receiverCountries, receiverUmaAddresses] = checkAll(
    () => limitsOf(input.limits),
    () => (input.approval ? approvalOf(input.approval) : Prisma.DbNull),
    () => each(input.receiverCountries, at('receiverCountries'), checkCountry),
    () => each(input.receiverUmaAddresses, at('receiverUmaAddresses'), checkUmaAddress),
    ...(['kinds', 'receiverAccountIds', 'receiverCountries', 'receiverUmaAddresses'] as const).map(
      (list) => () => checkNotEmpty(input[list], at(list)),
    ),
    () => checkHours(hoursFrom, hoursTo),
    () => checkTimeZone(timeZone),
  );
  return {
    limitPeriods: limits.map(({ period }) => period),
    limitCurrencies: limits.map(({ currency }) => currency),
    limitMaxima: limits.map(({ maximum }) => maximum),
    // The usage is summed again the next time the policy applies (spent.sql).
    used: limits.map(() => 0n),
    summedAt: limits.map(() => new Date(0)),
    ...{ hoursFrom, hoursTo, timeZone, receiverCountries, receiverUmaAddresses, approval },
    kinds: [...new Set(input.kinds)],
    receiverAccountIds: [...new Set(input.receiverAccountIds)],
    releaseOn: [...new Set(input.releaseOn)],
  };
}

function each(
  list: readonly string[] | null | undefined,
  path: FieldPath,
  check: (one: string, path: FieldPath) => string,
): string[] {
  return [...new Set((list ?? []).map((one, position) => check(one, [...path, position])))];
}

/** Validates the hours. They are compared as strings, which sort chronologically. */
function checkHours(from: string | null, to: string | null): void {
  const form = /^([01]\d|2[0-3]):[0-5]\d$/;
  if (from !== null && !form.test(from)) throw invalid('expected a time in the form HH:MM', at('hoursFrom'));
  if (to !== null && !form.test(to) && to !== '24:00')
    throw invalid('expected a time in the form HH:MM; the end of a day is 24:00', at('hoursTo'));
  if ((from === null) !== (to === null) || (from !== null && from === to))
    throw invalid('hours must have a start and an end, at different times', at('hoursTo'));
}

/** Accepts only IANA names. Postgres would also accept made-up zones such as FOO+3, and Intl would accept offsets. */
function checkTimeZone(timeZone: string): void {
  try {
    if (!/^(UTC|[A-Z].*\/.*)$/i.test(timeZone)) throw new RangeError(timeZone);
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    if (error instanceof RangeError) throw unknownTimeZone();
    throw error;
  }
}

const unknownTimeZone = () => invalid('expected an IANA time zone such as Europe/Berlin or UTC', at('timeZone'));

const timeZoneStatement = statement<object>('time_zone', 'select now() at time zone $1::text');

/** Checks that Postgres also knows the time zone, because Postgres applies the policy to payments. */
async function requireTimeZone({ pool }: Database, timeZone: string): Promise<void> {
  await timeZoneStatement(pool, timeZone).catch((error: unknown) => {
    throw sqlState(error) === '22023' ? unknownTimeZone() : error;
  });
}

/** Validates limits. A limit on the number of payments has an empty currency. */
function limitsOf(limits: readonly GivenLimit[], paths: FieldPath = at('limits')) {
  const stored = limits.map(({ period, currency: code, amount, payments }, position) => {
    const path = [...paths, position];
    if (typeof payments === 'number') {
      if (amount != null || code != null)
        throw invalid('a limit must be either an amount in a currency or a number of payments', path);
      if (period === 'PAYMENT') throw invalid('a single payment can only be limited by an amount', path);
      if (payments < 0) throw invalid('the number of payments must be 0 or more', [...path, 'payments']);
      return { period, currency: '', maximum: BigInt(payments) };
    }
    if (code == null) throw invalid('a limit needs an amount and its currency, or a number of payments', path);
    const currency = givenCurrency(code, [...path, 'currency']);
    if (amount == null) throw new Refusal('INVALID_AMOUNT', 'an amount is required', [...path, 'amount']);
    return { period, currency: currency.code, maximum: smallestUnits(amount, currency, [...path, 'amount']) };
  });
  const names = stored.map(({ period, currency }) => `${period} ${currency}`);
  const twice = names.findIndex((name, position) => names.indexOf(name) !== position);
  if (twice >= 0) throw invalid('there are two limits for this period', [...paths, twice]);
  return stored;
}

/** Validates a policy's approval rules, and returns them in their stored form (needs_approval.sql). */
function approvalOf({ above, ...given }: GivenApproval): StoredApproval {
  if (!given.always && !given.newReceivers && above.length === 0)
    throw invalid('specify which payments need an approval', at('approval'));
  if (given.expiresInSeconds < 1 || given.expiresInSeconds > maxApprovalSeconds) {
    const message = `the time allowed for an approval must be 1 to ${maxApprovalSeconds} seconds`;
    throw invalid(message, [...at('approval'), 'expiresInSeconds']);
  }
  const ofPayments = above.map((one) => ({ period: 'PAYMENT', ...one }) as const);
  const limits = limitsOf(ofPayments, [...at('approval'), 'above']);
  return { ...given, above: limits.map(({ currency, maximum }) => ({ currency, amount: maximum.toString() })) };
}

/** Reads the policies that limit a viewer's payments and that the viewer may see. */
export async function policiesOf(database: Database, viewer: Viewer): Promise<Policy[]> {
  const { platformId, bound, makers } = viewer;
  const subjects = [platformId, ...makers, ...(bound.kind === 'CUSTOMER' ? [bound.customerId] : [])];
  return database.prisma.policy.findMany({
    where: { platformId, subjectId: { in: subjects.filter((id) => maySeePolicyOf(viewer, id)) } },
    orderBy: { id: 'asc' },
  });
}

const limitsStatement = statement<{ id: string; limits: readonly LimitState[] }>(
  'limits_of_policies',
  'select id, limits_of(platform_id, id) as limits from policy where platform_id = $1',
);

/** Reads all limits in a platform's policies, with how much of each is used and how much remains. */
export async function limitsOfPolicies({ pool }: Database, platformId: string) {
  const rows = await limitsStatement(pool, platformId);
  return new Map(rows.map(({ id, limits }) => [id, limits]));
}

/** Checks whether any policy of the viewer's token, or of one of the token's creators, limits amounts. */
export async function limitsAmounts(database: Database, { platformId, makers }: Viewer): Promise<boolean> {
  const where = { platformId, subjectId: { in: [...makers] } };
  const policies = await database.prisma.policy.findMany({ where, select: { limitCurrencies: true } });
  return policies.some(({ limitCurrencies }) => limitCurrencies.some((currency) => currency !== ''));
}
