import type { Tenant } from '../../core/tenant.ts';
import { Permission } from '../../infra/database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * Returns the caller for what the service does in a platform's own name, without a token: its set-up, and the decisions that it
 * gives in its answers to webhooks. This caller may do and see everything of the platform, so no API imports this file
 * (.dependency-cruiser.cjs): their callers are viewers.
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
