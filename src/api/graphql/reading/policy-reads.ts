import { visiblePolicies } from '../../../domain/access/visible.ts';
import { conditionsOf, tableOf } from '../../../infra/database/conditions.ts';
import type { MadeRead } from './kinds.ts';
import { sql } from './reads.ts';

/** How policies are read. */

/** The limits of a policy, with what a function of the database says is used of each. */
export const limitsOf: MadeRead = () => ({
  kind: 'values',
  // What has been paid since is seldom summed up.
  costs: 'past',
  from: ({ row }, alias) => ({
    from: [
      `jsonb_array_elements(limits_of(${row}.platform_id, ${row}.id)) with ordinality as ${alias}(value, position)`,
    ],
    orderBy: `${alias}.position`,
    env: { json: `${alias}.value` },
  }),
});

/** The policy of the row, where the viewer may see it. */
export const policyOf: MadeRead = () => ({
  kind: 'row',
  from: ({ row = '' }, alias) =>
    sql`${tableOf('Policy')} ${alias} where ${alias}.subject_id = ${row}.id and ${(run) =>
      conditionsOf('Policy', alias, visiblePolicies(run.viewer), run)}`,
});
