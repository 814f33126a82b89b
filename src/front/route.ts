import type { IncomingMessage } from 'node:http';
import { type Claim, claimOfAuthorization, claimOfStream, claimOfToken } from '../clusters/names.ts';

/** Where a request is to go. */
export interface Route {
  readonly claim: Claim;
  /** The instance that has reserved the event stream which the request is about. */
  readonly instance?: string | undefined;
  /** What it asks for, where that differs from what was sent. */
  readonly url?: string | undefined;
}

/** The addresses for webhooks of rails' providers, with the cluster of the platform or without. */
const providerWebhook =
  /^\/rails\/(?:([a-z][a-z0-9-]{0,30})\/)?((?:Platform|platform)(?::|%3A)([0-9a-f-]{36}))\/webhooks$/i;

/** Finds out where a request belongs, by what it says itself. */
export function routeOf({ method, url = '/', headers }: IncomingMessage): Route {
  const [path = '/', query = ''] = url.split('?', 2);
  const webhook = providerWebhook.exec(path);
  if (webhook) {
    const [, cluster, id, platformId] = webhook;
    return { claim: { cluster, platformId: platformId?.toLowerCase() }, url: `/rails/${id}/webhooks` };
  }
  const search = query === '' ? undefined : new URLSearchParams(query);
  const ticket = method === 'GET' ? search?.get('ticket') : undefined;
  if (ticket) return { claim: claimOfToken(ticket) ?? {} };
  const token =
    path === '/graphql/stream' ? (single(headers['x-graphql-event-stream-token']) ?? search?.get('token')) : null;
  const stream = token ? claimOfStream(token) : undefined;
  // A platform that has moved is where its credentials belong now, whoever has reserved its stream.
  return { claim: claimOfAuthorization(headers.authorization) ?? stream?.claim ?? {}, instance: stream?.instance };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
