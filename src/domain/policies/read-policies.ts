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
