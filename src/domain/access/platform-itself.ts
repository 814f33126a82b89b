import type { Tenant } from '../../core/tenant.ts';
import { Permission } from '../../infra/database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * Returns the caller for actions that the service takes on behalf of a platform without a token: setting up the
 * platform, and carrying out decisions that the platform sends in its responses to webhooks. This caller has full
 * access to the platform, so no API may import this file (.dependency-cruiser.cjs). API callers are always viewers.
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
