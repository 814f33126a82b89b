import type { Plan } from './plan.ts';

/**
 * Merges plans into one that does everything they do, in their order. Nothing is lost: lists are concatenated.
 * @throws Error where two of them have a claim, a result or an alternative, of which a plan has one
 */
export function mergePlans(...plans: readonly Plan[]): Plan {
  return plans.reduce((plan, other) => mergeFields(plan, other, merges), {});
}

/** How to merge each field when both plans have it. The compiler finds a missing field. */
type Merges<T> = { readonly [Field in keyof T]-?: Merge<NonNullable<T[Field]>> };
type Merge<T> = (one: T, other: T) => T;

const merges: Merges<Plan> = {
  claim: onlyOne('claim'),
  requireActive: (one, other) =>
    mergeFields(one, other, { customers: concat, accounts: concat, unfrozen: concat, lookups: concat }),
  capacity: concat,
  spend: onlyOne('spend'),
  insert: (one, other) =>
    mergeFields(one, other, {
      customer: concat,
      account: concat,
      transaction: concat,
      quote: concat,
      arrival: concat,
      rail_order: concat,
      account_check: concat,
      identity_check: concat,
    }),
  quotes: concat,
  transactions: concat,
  customers: concat,
  accounts: concat,
  checks: concat,
  journals: concat,
  adjustments: concat,
  cases: concat,
  orders: concat,
  expected: onlyOne('expected'),
  result: onlyOne('result'),
  otherwise: onlyOne('otherwise'),
};

function mergeFields<T extends object>(one: T, other: T, how: Merges<T>): T {
  const merged = { ...one };
  for (const field of Object.keys(other) as (keyof T)[]) {
    const [value, otherValue] = [one[field], other[field]];
    if (value === undefined || value === null) merged[field] = otherValue;
    else if (otherValue !== undefined && otherValue !== null) merged[field] = how[field](value, otherValue);
  }
  return merged;
}

function concat<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  return [...one, ...other];
}

function onlyOne(field: keyof Plan) {
  return (): never => {
    throw new Error(`cannot merge two plans that both have a ${field}`);
  };
}
