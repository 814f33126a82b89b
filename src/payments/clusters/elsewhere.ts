import { otherClusterOf } from '../../clusters/cluster.ts';
import type { Tenant } from '../../core/tenant.ts';
import { simulatedDomain } from '../../rails/simulation.ts';
import { connectedRail, type Payments } from '../command.ts';

/**
 * Returns the other cluster at which a UMA address receives. Undefined where it receives here, or outside of all clusters, and for
 * the addresses that the sandbox simulates.
 */
export function clusterOfAddress(payments: Payments, tenant: Tenant, umaAddress: string): string | undefined {
  if (payments.cluster === undefined) return undefined;
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  if (domain === simulatedDomain && connectedRail(payments, tenant)?.simulation) return undefined;
  return otherClusterOf(payments.cluster, domain);
}
