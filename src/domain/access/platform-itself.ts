import type { Tenant } from '../../core/tenant.ts';
import { Permission } from '../../infra/database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * Returns the caller for actions that the service takes without a token on behalf of a platform: the platform's
 * setup, and decisions that the platform sends in its responses to webhooks. This caller has full access to the
 * platform, so no API imports this file (.dependency-cruiser.cjs): callers of the APIs are viewers.
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
