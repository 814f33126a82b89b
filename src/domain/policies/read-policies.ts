import type { Database } from '../../infra/database/database.ts';
import type { Policy } from '../../infra/database/generated/client/client.ts';
import type { Viewer } from '../access/viewer.ts';
import { maySeePolicyOf } from '../access/visible.ts';

/** Reads the policies that limit a viewer's payments and that the viewer may see. */
export async function policiesOf(database: Database, viewer: Viewer): Promise<Policy[]> {
  const { platformId, bound, makers } = viewer;
  const subjects = [platformId, ...makers, ...(bound.kind === 'CUSTOMER' ? [bound.customerId] : [])];
  return database.prisma.policy.findMany({
    where: { platformId, subjectId: { in: subjects.filter((id) => maySeePolicyOf(viewer, id)) } },
    orderBy: { id: 'asc' },
  });
}

/** Returns whether a policy of a viewer's token, or of one that created it, limits amounts. */
export async function limitsAmounts(database: Database, { platformId, makers }: Viewer): Promise<boolean> {
  const where = { platformId, subjectId: { in: [...makers] } };
  const policies = await database.prisma.policy.findMany({ where, select: { limits: true } });
  return policies.some(
    ({ limits }) => Array.isArray(limits) && limits.some((limit) => Object(limit).amount !== undefined),
  );
}
