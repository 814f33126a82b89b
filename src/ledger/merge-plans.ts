import type { Plan } from './plan.ts';

/**
 * Merges plans into one that wants all that they want, in their order. Nothing is lost: lists follow one another.
 * @throws Error where two of them have a claim, a result or an alternative, of which a plan has one
 */
export function mergePlans(...plans: readonly Plan[]): Plan {
  return plans.reduce((plan, other) => mergeFields(plan, other, merges), {});
}

/** How each field is merged where both have it. The compiler finds a field that is forgotten here. */
type Merges<T> = { readonly [Field in keyof T]-?: Merge<NonNullable<T[Field]>> };
type Merge<T> = (one: T, other: T) => T;

const merges: Merges<Plan> = {
  claim: single('claim'),
  requireActive: (one, other) => mergeFields(one, other, { customers: both, accounts: both }),
  capacity: both,
  insert: (one, other) =>
    mergeFields(one, other, {
      customer: both,
      account: both,
      transaction: both,
      quote: both,
      arrival: both,
      rail_order: both,
      account_check: both,
    }),
  quotes: both,
  transactions: both,
  customers: both,
  accounts: both,
  checks: both,
  journals: both,
  orders: both,
  result: single('result'),
  otherwise: single('otherwise'),
};

function mergeFields<T extends object>(one: T, other: T, how: Merges<T>): T {
  const merged = { ...one };
  for (const field of Object.keys(other) as (keyof T)[]) {
    const [here, there] = [one[field], other[field]];
    if (here === undefined || here === null) merged[field] = there;
    else if (there !== undefined && there !== null) merged[field] = how[field](here, there);
  }
  return merged;
}

function both<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  return [...one, ...other];
}

function single(field: keyof Plan) {
  return (): never => {
    throw new Error(`two plans have a ${field}: they cannot be one`);
  };
}
