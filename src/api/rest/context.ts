import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { Cursors } from '../../core/cursors.ts';
import { invalid } from '../../core/refusal.ts';
import type { Viewer } from '../../domain/access/caller.ts';
import type { Replicas } from '../../infra/database/replicas/replicas.ts';

/** The version of the REST API: the last segment of its base URL. */
export const restVersion = '2025-10-13';
export const restPrefix = `/${restVersion}`;

export type RestApp = OpenAPIHono<RestEnvironment>;

export interface RestEnvironment {
  Bindings: { readonly bodyTooLarge: boolean };
  Variables: {
    /** The authenticated caller, set before any endpoint runs. */
    viewer: Viewer;
    cursors: Cursors;
    replicas: Replicas | undefined;
    /** Whether the request's command has taken effect. If so, a later error does not mean that the command failed. */
    tookEffect?: true;
  };
}

// Implements entity tags (RFC 9110, 8.8.3) for records with versions, and If-Match (13.1.1).

/** The header that contains the entity tag of the record to change. Error messages use this spelling. */
export const ifMatch = 'If-Match';

/** Sets the response's strong entity tag. */
export function setTag(context: Context<RestEnvironment>, tag: string | number): void {
  context.header('ETag', `"${tag}"`);
}

/** Returns the entity tag in If-Match: undefined if absent or `*`, and '' for a weak tag, which never matches. */
export function demandedTag(context: Context<RestEnvironment>): string | undefined {
  const field = context.req.header(ifMatch)?.trim();
  if (field === undefined || field === '*') return undefined;
  const [, weak, tag] = /^(W\/)?"([\x21\x23-\x7e]*)"$/.exec(field) ?? [];
  if (tag === undefined) throw invalid('expected a single entity tag, as returned in ETag, or *', [ifMatch]);
  return weak ? '' : tag;
}

/** Returns the version in an entity tag. Returns 0, which no record has, if the tag contains no version. */
export const versionIn = (tag: string) => (/^[1-9]\d{0,8}$/.test(tag) ? Number(tag) : 0);

/** Lets a read-only endpoint read from replicas, if there are any. */
export const onReplicas: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  const replicas = context.get('replicas');
  return replicas ? replicas.reading(next) : next();
};
