import { OpenAPIHono } from '@hono/zod-openapi';
import type { Viewer } from '../access/viewer.ts';
import { invalidRequest } from './errors.ts';
import type { RestBindings } from './node-adapter.ts';

/** The interface's version: the last segment of its base address (specification 9). */
export const restVersion = '2025-10-13';
export const restPrefix = `/${restVersion}`;

export interface RestEnvironment {
  Bindings: RestBindings;
  Variables: {
    /** Who asks; set before any endpoint runs. */
    viewer: Viewer;
  };
}

export type RestApp = OpenAPIHono<RestEnvironment>;

/** The router. What a definition's schemas refuse is thrown, so that all errors are presented in one place. */
export function newRestApp(): RestApp {
  return new OpenAPIHono<RestEnvironment>({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.error.issues, 'data' in result ? result.data : undefined);
    },
  });
}
