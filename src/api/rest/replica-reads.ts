import type { MiddlewareHandler } from 'hono';
import type { Cursors } from '../../core/cursors.ts';
import { Refusal } from '../../core/refusal.ts';
import { readAfterHeader, readAfterOf } from '../../domain/events/read-after.ts';
import type { RestEnvironment } from './environment.ts';

/** The request header that says which writes the reads must include, as named in errors. */
const field = 'Payments-Read-After';

/** Lets a read-only endpoint read from replicas, if there are any. */
export const onReplicas: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  const { platformId } = context.get('viewer');
  const sent = context.req.header(readAfterHeader);
  const token = sent === undefined ? undefined : readAfter(context.get('cursors'), platformId, sent);
  const replicas = context.get('replicas');
  if (!replicas) return next();
  context.set('onlyReads', true);
  // The page after a cursor must be read from the same source as the page before it.
  const isPage = context.req.query('cursor') !== undefined;
  return replicas.reading(platformId, isPage ? undefined : token, () => next());
};

/** Adds the token for later reads to the response of a possible write. */
export const withReadToken: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  await next();
  const replicas = context.get('replicas');
  if (!replicas || context.get('onlyReads')) return;
  context.header(field, await replicas.afterWrite(context.get('viewer').platformId));
};

function readAfter(cursors: Cursors, platformId: string, text: string) {
  try {
    return readAfterOf(cursors, platformId, text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, error.message, { path: [field] });
  }
}
