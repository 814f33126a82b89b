import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePlans, type Plan } from '../../src/domain/ledger/plan.ts';

/** Rows or moves with only an id, because a merge does not depend on their content. */
const some = fc.array(fc.record({ id: fc.uuid() }), { maxLength: 3 });
const one = fc.record({ id: fc.uuid() });

type Fields<T> = Record<keyof NonNullable<T>, fc.Arbitrary<unknown>>;

// If a plan field is missing from these lists, the compiler reports it.
const requireActive = { customers: some, accounts: some, unfrozen: some, lookups: some } satisfies Fields<
  Plan['requireActive']
>;
const insert = {
  ...{ customer: some, account: some, transaction: some, quote: some },
  ...{ arrival: some, rail_order: some, account_check: some, identity_check: some },
} satisfies Fields<Plan['insert']>;
const lists = {
  requireActive: fc.record(requireActive, { requiredKeys: [] }),
  insert: fc.record(insert, { requiredKeys: [] }),
  ...{ capacity: some, quotes: some, transactions: some, customers: some, accounts: some },
  ...{ checks: some, journals: some, adjustments: some, cases: some, orders: some },
};
const singles = { claim: one, expected: one, spend: one, result: one, otherwise: one };
const parts = fc.record({ ...lists, ...singles } satisfies Fields<Plan>, { requiredKeys: [] });
const listedParts = fc.record(lists, { requiredKeys: [] });

function wants(plan: unknown, name = ''): [string, unknown][] {
  if (Array.isArray(plan)) return plan.map((item) => [name, item]);
  if (name !== '' && Object.keys(singles).includes(name)) return [[name, plan]];
  return Object.entries(plan ?? {}).flatMap(([field, value]) => wants(value, name ? `${name}.${field}` : field));
}

const byField = (all: [string, unknown][]) => Object.groupBy(all, ([field]) => field);

test("a merged plan has exactly the contents of both plans, the first plan's before the second's", () => {
  fc.assert(
    fc.property(parts, listedParts, fc.boolean(), (whole, partial, isFirst) => {
      const [first, second] = (isFirst ? [whole, partial] : [partial, whole]) as [Plan, Plan];
      const before = structuredClone([first, second]);
      expect(byField(wants(mergePlans(first, second)))).toEqual(byField([...wants(first), ...wants(second)]));
      expect([first, second]).toEqual(before);
    }),
  );
});

test.each(['claim', 'result', 'otherwise'])('two plans that both have the field %s cannot be merged', (field) => {
  const plans = [{ [field]: { id: '1' } }, { [field]: { id: '2' } }] as [Plan, Plan];
  expect(() => mergePlans(...plans)).toThrow(`cannot merge two plans that both have a ${field}`);
});
