import type { Tenant } from '../../core/tenant.ts';
import { Permission } from '../../infra/database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * Returns the caller for actions taken on a platform's behalf without a token: setting it up, and applying its
 * responses to webhooks. This caller has full access, so no API may import this file (see .dependency-cruiser.cjs).
 */
export function platformItself({ platformId, environment }: Tenant, operator?: Caller['operator']): Caller {
  return {
    kind: 'PLATFORM',
    platformId,
    environment,
    permissions: Object.values(Permission),
    grants: [],
    tokenId: null,
    makers: [],
    bound: { kind: 'PLATFORM' },
    operator,
  };
}
