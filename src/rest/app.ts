import { OpenAPIHono } from '@hono/zod-openapi';
import type { Payments } from '../payments/command.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { RestEnvironment } from './environment.ts';
import { invalidRequest } from './errors.ts';

/** The interface's version: the last segment of its base address (specification 9). */
export const restVersion = '2025-10-13';
/** The path below which all of the interface lies. */
export const restPrefix = `/${restVersion}`;

/** The rooms that endpoints ask. */
export interface RestRooms {
  readonly payments: Payments;
  readonly webhooks: Webhooks;
}

/** The router of the interface, to which each resource adds its endpoints. */
export type RestApp = OpenAPIHono<RestEnvironment>;

/** The router. What a definition's schemas refuse is thrown, so that all errors are presented in one place. */
export function newRestApp(): RestApp {
  return new OpenAPIHono<RestEnvironment>({
    defaultHook: (result) => {
      if (result.success) return;
      const data = 'data' in result ? result.data : undefined;
      throw invalidRequest(result.error.issues, data, result.target === 'json');
    },
  });
}
