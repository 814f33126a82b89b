import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refusalIn } from '../../core/refusal.ts';
import { isAcceptedFrom, type Viewer } from '../../domain/access/caller.ts';
import { type Clock, RateLimited, rateLimitFields } from '../../domain/access/limits/rate-limits.ts';
import { msLeft, noteCaller } from '../../infra/instruments/request-facts.ts';
import { within } from '../../infra/instruments/within.ts';
import type { GraphqlOptions } from '../graphql/server/server.ts';
import type { AddressOf } from './client-address.ts';
import { type EarlyRefusal, unavailable } from './refusals.ts';
import type { Tenant } from './turns.ts';

/** The default time limit for looking up credentials, in milliseconds. */
const lookUpMs = 10_000;
/** How long the rate limiter reuses a successful credential check, in ms. The APIs still authenticate every request. */
const knownMs = 1_000;

interface Known {
  readonly authorization: string;
  readonly viewer: Viewer;
  /** When the credentials were last verified, by the rate limiter's clock. */
  readonly at: number;
}

export interface CallerOptions extends Pick<GraphqlOptions, 'credentials' | 'limits' | 'pace'> {
  readonly addressOf: AddressOf;
  readonly now: Clock;
}

export type Callers = ReturnType<typeof openCallers>;

/** Identifies a request's caller before the API does, to enforce rate limits and the caller's share of the capacity. */
export function openCallers({ credentials, limits, pace, addressOf, now }: CallerOptions) {
  const bySocket = new WeakMap<Socket, Known>();

  /** Returns a request's caller if its credentials were verified recently. Does not query the database. */
  function find(request: IncomingMessage): Viewer | undefined {
    const { headers, socket } = request;
    const { authorization } = headers;
    if (authorization === undefined) return undefined;
    const known = bySocket.get(socket);
    const at = now();
    const isFresh = known?.authorization === authorization && at - known.at < knownMs;
    const viewer = isFresh ? known.viewer : credentials.cached(authorization);
    if (!viewer || (viewer.addresses.length > 0 && !isAcceptedFrom(viewer, addressOf(request)))) return undefined;
    noteCaller(viewer);
    if (!isFresh) bySocket.set(socket, { authorization, viewer, at });
    return viewer;
  }

  /**
   * Returns the tenant whose share of the capacity a request uses. This is the request's platform if its credentials
   * were verified recently, or earlier on the same connection; otherwise, it is the client's address.
   */
  function tenantOf(request: IncomingMessage, caller: Viewer | undefined): Tenant {
    const known = bySocket.get(request.socket);
    const viewer = caller ?? (known?.authorization === request.headers.authorization ? known?.viewer : undefined);
    if (viewer) return { key: viewer.platformId, isPlatform: true };
    return { key: `address ${addressOf(request)}`, isPlatform: false };
  }

  async function authenticate(request: IncomingMessage, ms: number): Promise<Viewer | undefined> {
    const viewer = await within(ms, credentials.authenticateFrom(addressOf(request), request.headers.authorization));
    if (!viewer) delete request.headers.authorization;
    return viewer;
  }

  /** Counts a caller's request, and sets the header fields that say how many more requests the caller may send. */
  function count(caller: Viewer, response: ServerResponse): RateLimited | undefined {
    const { refusal, quotas } = limits.count(caller);
    const fields = rateLimitFields(quotas);
    if (fields) {
      response.setHeader('ratelimit-policy', fields.policy);
      response.setHeader('ratelimit', fields.state);
    }
    return refusal;
  }

  return {
    find,
    tenantOf,
    count,
    /** Returns a request's platform if its credentials were verified recently, or earlier on the same connection. */
    known(request: IncomingMessage): string | undefined {
      const { key, isPlatform } = tenantOf(request, find(request));
      return isPlatform ? key : undefined;
    },
    /**
     * Looks up a request's platform in the database. If the request's credentials are wrong, removes them from it, as
     * `identify` does, and returns undefined.
     * @throws RateLimited if the address has sent too many wrong credentials
     */
    lookUp: async (request: IncomingMessage) => (await authenticate(request, lookUpMs))?.platformId,
    waitToRefuse: (request: IncomingMessage, caller: Viewer | undefined) => pace.wait(tenantOf(request, caller).key),
    /**
     * Authenticates and counts a request whose caller is unknown to `find`. Wrong credentials are removed from the
     * request, so that the API treats it like a request without credentials and does not look them up again.
     * @returns the refusal if the request exceeds a limit; STRANGER if it has no valid credentials
     */
    async identify(response: ServerResponse): Promise<EarlyRefusal | 'STRANGER' | undefined> {
      try {
        const viewer = await authenticate(response.req, msLeft(lookUpMs));
        if (!viewer) return 'STRANGER';
        noteCaller(viewer);
        return count(viewer, response);
      } catch (error) {
        if (error instanceof RateLimited) return error;
        const refusal = refusalIn(error);
        // Any other failure will recur in the request's API, which then reports it.
        return refusal && unavailable(refusal.message);
      }
    },
  };
}
