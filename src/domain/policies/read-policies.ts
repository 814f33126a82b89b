import type { Database } from '../../infra/database/database.ts';
import type { Policy } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Viewer } from '../access/viewer.ts';
import { maySeePolicyOf } from '../access/visible.ts';
import type { LimitState } from '../ledger/commit.ts';

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

/** Reads the limits of all policies of a platform, with their used and remaining parts. */
export async function limitsOfPolicies({ pool }: Database, platformId: string) {
  const rows = await limitsStatement(pool, platformId);
  return new Map(rows.map(({ id, limits }) => [id, limits]));
}

/** Returns whether a policy of a viewer's token, or of one that created it, limits amounts. */
export async function limitsAmounts(database: Database, { platformId, makers }: Viewer): Promise<boolean> {
  const where = { platformId, subjectId: { in: [...makers] } };
  const policies = await database.prisma.policy.findMany({ where, select: { limitCurrencies: true } });
  return policies.some(({ limitCurrencies }) => limitCurrencies.some((currency) => currency !== ''));
}
