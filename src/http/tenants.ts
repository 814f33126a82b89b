import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Credentials } from '../access/credentials.ts';

interface Known {
  readonly authorization: string;
  readonly platformId: string;
}

/**
 * Tells whose share of the capacity a request uses, before it is authenticated: that of the platform whose credentials were
 * right a moment ago or before on the same connection, or else that of its address. Wrong credentials cannot use the share
 * of a platform, and new ones for each request bring no more than one share.
 */
export class Tenants {
  readonly #credentials: Pick<Credentials, 'cached' | 'authenticate'>;
  readonly #known = new WeakMap<Socket, Known>();

  constructor(credentials: Pick<Credentials, 'cached' | 'authenticate'>) {
    this.#credentials = credentials;
  }

  /** Returns the key of the share. */
  of(request: IncomingMessage): string {
    return this.known(request) ?? `address ${request.socket.remoteAddress ?? ''}`;
  }

  /** Returns the platform whose credentials a request has, where they were right a moment ago or on the same connection. */
  known({ headers: { authorization }, socket }: IncomingMessage): string | undefined {
    const known = this.#known.get(socket);
    if (known && known.authorization === authorization) return known.platformId;
    const viewer = this.#credentials.cached(authorization);
    if (!viewer || authorization === undefined) return undefined;
    this.#known.set(socket, { authorization, platformId: viewer.platformId });
    return viewer.platformId;
  }

  /** Authenticates a request. Returns its platform, or undefined for credentials that are not right. */
  async find({ headers: { authorization } }: IncomingMessage): Promise<string | undefined> {
    return (await this.#credentials.authenticate(authorization))?.platformId;
  }
}
