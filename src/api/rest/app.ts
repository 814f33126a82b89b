import { OpenAPIHono } from '@hono/zod-openapi';
import type { Payments } from '../../domain/commands/command.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { RestEnvironment } from './context.ts';
import { invalidRequest } from './errors.ts';

/** The version of the REST API: the last segment of its base URL (specification 9). */
export const restVersion = '2025-10-13';
export const restPrefix = `/${restVersion}`;

export interface RestModules {
  readonly payments: Payments;
  readonly webhooks: Webhooks;
}

/** The router of the REST API, to which each resource adds its endpoints. */
export type RestApp = OpenAPIHono<RestEnvironment>;

/** Creates the router. It throws validation errors, so that one function presents all errors. */
export function newRestApp(): RestApp {
  return new OpenAPIHono<RestEnvironment>({
    defaultHook: (result) => {
      if (result.success) return;
      const data = 'data' in result ? result.data : undefined;
      throw invalidRequest(result.error.issues, data, result.target === 'json');
    },
  });
}
