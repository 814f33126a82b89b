import fc from 'fast-check';
import { expect } from 'vitest';
import { succeed } from '../setup/acts.ts';
import type { Data } from '../setup/gateway.ts';
import { hoursAhead, timeZoneAtNoon } from '../setup/passing-time.ts';
import type { Balances, Pair, World } from './world.ts';

/** What a sequence of commands runs against. */
export interface Real {
  readonly world: World;
  readonly pair: Pair;
}

/** Policies as the model foresees them: which payments they refuse, which they hold for an approval, and what they count. */

export const subjects = ['customer', 'token', 'platform'] as const;
/** Whose payments a policy limits: those of A, of the token that pays, or of the platform. */
export type Subject = (typeof subjects)[number];

const kinds = ['TRANSFER_OUT', 'TRANSFER_IN', 'TRANSFER_INTERNAL', 'QUOTE'] as const;
const receivers = ['outsideUsd', 'outsideEur', 'closed', 'aUsd', 'bUsd', 'bEur', 'uma'] as const;

/** A payment as policies see it. Its amount is in dollars. */
export interface Payment {
  readonly kind: (typeof kinds)[number];
  readonly customer: 'A' | 'B';
  readonly to: (typeof receivers)[number];
  readonly amount: bigint;
  /** The account here that pays; undefined if the money comes from outside. */
  readonly source: 'aUsd' | 'bUsd' | undefined;
}

interface Limit {
  readonly period: 'PAYMENT' | 'DAY' | 'MONTH' | 'LAST_24_HOURS' | 'LAST_30_DAYS';
  /** What is limited: an amount in a currency, or the number of payments. */
  readonly of: 'USD' | 'EUR' | 'payments';
  readonly most: bigint;
}

interface Terms {
  readonly limits: readonly Limit[];
  readonly kinds: readonly Payment['kind'][];
  readonly receivers: readonly Payment['to'][];
  readonly hours: 'all' | 'now' | 'later';
  readonly releaseOn: readonly ('FAILED' | 'REFUNDED')[];
  readonly approval: { readonly for: 'always' | 'above' | 'newReceivers'; readonly above: bigint } | undefined;
  readonly reserves: boolean;
}

/** A payment that a policy has counted. */
interface Use {
  readonly id: string;
  readonly amount: bigint;
  hoursAgo: number;
  released: boolean;
}

export interface ModelPolicy {
  readonly terms: Terms;
  /** The time zone in which it was noon when the policy was set, as its difference from UTC. */
  readonly offsetHours: number;
  readonly uses: Use[];
}

export type Policies = Map<Subject, ModelPolicy>;

const limit = fc
  .tuple(
    fc.constantFrom<Limit['period']>('PAYMENT', 'DAY', 'MONTH', 'LAST_24_HOURS', 'LAST_30_DAYS'),
    fc.constantFrom<Limit['of']>('USD', 'USD', 'USD', 'payments', 'payments', 'EUR'),
    fc.bigInt({ min: 0n, max: 7n }),
  )
  .filter(([period, of]) => period !== 'PAYMENT' || of !== 'payments')
  .map(
    ([period, of, size]): Limit => ({ period, of, most: of === 'payments' ? size / 2n + 1n : 15_000n * (size + 1n) }),
  );

/** A list that is mostly empty, and otherwise has some of the values. */
const someOf = <T>(values: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant<T[]>([]) }, fc.subarray([...values], { minLength: 2 }));

export const terms: fc.Arbitrary<Terms> = fc.record({
  limits: fc.uniqueArray(limit, { maxLength: 3, selector: ({ period, of }) => `${period} ${of}` }),
  kinds: someOf(kinds),
  receivers: someOf(receivers),
  hours: fc.constantFrom<Terms['hours']>('all', 'all', 'all', 'all', 'all', 'all', 'now', 'later'),
  releaseOn: fc.subarray<Terms['releaseOn'][number]>(['FAILED', 'REFUNDED']),
  approval: fc.option(
    fc.record({
      for: fc.constantFrom<'always' | 'above' | 'newReceivers'>('always', 'above', 'newReceivers'),
      above: fc.bigInt({ min: 5_000n, max: 30_000n }),
    }),
    { nil: undefined, freq: 2 },
  ),
  reserves: fc.boolean(),
});

const usd = (amount: bigint) => ({ currency: 'USD', amount: { units: amount } });

/** Sets a policy. A sequence takes less than the hours that are left of its day, in the time zone in which it is noon. */
export async function setPolicy(
  policies: Policies,
  { world, pair }: Real,
  subject: Subject,
  given: Terms,
): Promise<void> {
  const offsetHours = hoursAhead();
  const ids = receiverIds(pair, given.receivers);
  await succeed(world.admin, 'setPolicy', {
    subjectId: subjectIds(world, pair)[subject],
    limits: given.limits.map(({ period, of, most }) =>
      of === 'payments' ? { period, payments: Number(most) } : { period, currency: of, amount: { units: most } },
    ),
    ...(given.kinds.length > 0 && { kinds: given.kinds }),
    receiverAccountIds: ids.filter((id) => !id.startsWith('$')),
    receiverUmaAddresses: ids.filter((id) => id.startsWith('$')),
    ...(given.hours === 'now' && { hoursFrom: '06:00', hoursTo: '22:00' }),
    ...(given.hours === 'later' && { hoursFrom: '22:00', hoursTo: '06:00' }),
    timeZone: timeZoneAtNoon(),
    releaseOn: given.releaseOn,
    ...(given.approval && {
      approval: {
        ...(given.approval.for === 'above' ? { above: [usd(given.approval.above)] } : { [given.approval.for]: true }),
        reserves: given.reserves,
      },
    }),
  });
  policies.set(subject, { terms: given, offsetHours, uses: policies.get(subject)?.uses ?? [] });
}

const subjectIds = (world: World, { a }: Pair): Record<Subject, string> => ({
  customer: a.customerId,
  token: world.platform.tokenId,
  platform: `Platform:${world.platform.platformId}`,
});

function receiverIds({ a, b, closed, umaOfB }: Pair, names: Terms['receivers']): string[] {
  const ids = { ...a, closed, aUsd: a.usd, bUsd: b.usd, bEur: b.eur, uma: umaOfB };
  return names.map((name) => ids[name]);
}

/** Deletes a policy, with everything that it has counted. */
export async function deletePolicy(policies: Policies, { world, pair }: Real, subject: Subject): Promise<void> {
  await succeed(world.admin, 'deletePolicy', { subjectId: subjectIds(world, pair)[subject] });
  policies.delete(subject);
}

/** What policies let a payment do. */
export type Verdict = 'goes' | 'is refused' | 'waits' | 'waits reserved';

/** Foresees whether policies let a payment go. `paid`: whom each subject has paid before. */
export function verdictOf(policies: Policies, paid: ReadonlySet<string>, payment: Payment): Verdict {
  const limiting = [...policies].filter(([subject]) => subject !== 'customer' || payment.customer === 'A');
  if (limiting.some(([, policy]) => !allows(policy, payment))) return 'is refused';
  const demanding = limiting.filter(
    ([
      subject,
      {
        terms: { approval },
      },
    ]) => {
      if (!approval) return false;
      if (approval.for === 'above') return payment.amount > approval.above;
      return approval.for === 'always' || !paid.has(paidKey(subject, payment));
    },
  );
  if (demanding.length === 0) return 'goes';
  return demanding.some(([, policy]) => policy.terms.reserves) ? 'waits reserved' : 'waits';
}

/** The entry of a delivered payment in the list of those that a subject has paid. */
export const paidKey = (subject: Subject, { customer, to }: Payment) =>
  `${subject} ${subject === 'customer' ? customer : ''} ${to}`;

function allows(policy: ModelPolicy, { kind, to, amount }: Payment): boolean {
  const { limits, kinds: allowed, receivers: known, hours } = policy.terms;
  return (
    (allowed.length === 0 || allowed.includes(kind)) &&
    (known.length === 0 || known.includes(to)) &&
    (limits.every(({ of }) => of === 'payments') || limits.some(({ of }) => of === 'USD')) &&
    hours !== 'later' &&
    limits.every((one) => one.of === 'EUR' || usedOf(policy, one) + (one.of === 'USD' ? amount : 1n) <= one.most)
  );
}

/** What counts in the window of a limit now. All payments are in dollars. */
function usedOf({ uses, offsetHours }: ModelPolicy, { period, of }: Limit): bigint {
  const date = (hoursAgo: number) => new Date(Date.now() + (offsetHours - hoursAgo) * 3_600_000).toISOString();
  const within: Record<Limit['period'], (hoursAgo: number) => boolean> = {
    PAYMENT: () => false,
    DAY: (hoursAgo) => date(hoursAgo).slice(0, 10) === date(0).slice(0, 10),
    MONTH: (hoursAgo) => date(hoursAgo).slice(0, 7) === date(0).slice(0, 7),
    LAST_24_HOURS: (hoursAgo) => hoursAgo < 24,
    LAST_30_DAYS: (hoursAgo) => hoursAgo < 720,
  };
  const counting = uses.filter(({ released, hoursAgo }) => !released && within[period](hoursAgo) && of !== 'EUR');
  return of === 'payments' ? BigInt(counting.length) : counting.reduce((sum, use) => sum + use.amount, 0n);
}

/** Counts a payment that has begun, or waits. */
export function count(policies: Policies, id: string, { customer, amount }: Payment): void {
  for (const [subject, { uses }] of policies)
    if (subject !== 'customer' || customer === 'A') uses.push({ id, amount, hoursAgo: 0, released: false });
}

/** Lets an ended payment count no longer where a policy says so. */
export function release(policies: Policies, id: string, status: string): void {
  if (status === 'COMPLETED') return;
  for (const { uses, terms: of } of policies.values())
    for (const use of uses)
      if (use.id === id && of.releaseOn.includes(status === 'REFUNDED' ? 'REFUNDED' : 'FAILED')) use.released = true;
}

/** So many hours pass at once: it is the day before, but less than a day ago. Twice as many are more than a day. */
const hours = 14;

/** Lets hours pass for everything that policies have counted. */
export async function passHours(policies: Policies, { world }: Real): Promise<void> {
  await world.passHours(hours);
  for (const { uses } of policies.values()) for (const use of uses) use.hoursAgo += hours;
}

const shown = 'limits { period usedAmount { amount } usedPayments }';

/** Expects that each policy shows what the model has counted. */
export async function expectUsage(policies: Policies, { world, pair }: Real): Promise<void> {
  const { viewer, customer } = await world.platform.ask(
    `query ($id: ID!) { viewer { policies { subjectId ${shown} } } customer(id: $id) { policy { subjectId ${shown} } } }`,
    { id: pair.a.customerId },
  );
  const found = [...viewer.policies, ...(customer.policy ? [customer.policy] : [])];
  const ids = subjectIds(world, pair);
  const usage = found.map(({ subjectId, limits }: Data) => [
    subjectId,
    limits.map(({ usedAmount, usedPayments }: Data) => BigInt(usedAmount?.amount ?? usedPayments)),
  ]);
  const expected = [...policies].map(([subject, policy]) => [
    ids[subject],
    policy.terms.limits.map((one) => usedOf(policy, one)),
  ]);
  expect(Object.fromEntries(usage)).toEqual(Object.fromEntries(expected));
}

/** A payment that waits for the approval of a second person. */
export interface Held {
  readonly id: string;
  readonly payment: Payment;
  readonly isReserved: boolean;
  /** Why it cannot begin now, if its money is to be taken (`takes`) or has been. */
  readonly obstacle: (takes: boolean) => string | undefined;
  /** Lets it go on once it is approved. */
  readonly go: () => Promise<void>;
  /** Ends its quote, if it has one. */
  readonly end: (status: 'REJECTED' | 'EXPIRED') => void;
}

/** Takes the reserved money of a payment, or returns it (`sign`). */
export function reserve(balances: Balances, { payment: { source, amount }, isReserved }: Held, sign: 1n | -1n): void {
  if (isReserved && source) balances[source] += sign * amount;
}
