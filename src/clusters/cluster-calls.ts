import { hash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { Agent, request } from 'undici';
import type { Directory } from './directory.ts';

/** The header in which a call between clusters says from whom it is. */
export const callHeader = 'payments-cluster';

/** How long a call may take at each instance, in milliseconds: with two of them, less than the gateway waits for a rail. */
const callMs = 4_000;
/** How old a call may be when it arrives. The clocks of clusters must not differ by more. */
const maxAge = '5 minutes';
const algorithm = 'HS256';

/** The keys of clusters by their ids. The first one signs. */
export type ClusterKeys = ReadonlyMap<string, Uint8Array>;

/** The error for a call that another cluster has not answered: nothing is known of what came of it. */
export class ClusterFault extends Error {}

/**
 * Calls other clusters, and recognises their calls. Each call has a token (RFC 7519) that names both clusters and the digest of
 * the path and the body, signed with the key that all clusters share. A call has the same effect however often it arrives, so a
 * copy of one does nothing new.
 */
export class ClusterCalls {
  readonly #name: string;
  readonly #directory: { readonly current: Directory };
  readonly #keys: ClusterKeys;
  readonly #agent = new Agent({ connections: 64, connect: { timeout: 2_000 } });

  /** @param name the name of this cluster */
  constructor(name: string, directory: { readonly current: Directory }, keys: ClusterKeys) {
    this.#name = name;
    this.#directory = directory;
    this.#keys = keys;
  }

  /**
   * Sends a call to a cluster: to one of its instances after the other, until one answers.
   * @returns the body of its answer, parsed
   * @throws ClusterFault where none answers, or it does not take the call
   */
  async call(cluster: string, path: string, message: object): Promise<unknown> {
    const body = JSON.stringify(message);
    const token = await this.#sign(cluster, path, body);
    let last: unknown = new ClusterFault(`there is no cluster ${cluster}`);
    for (const address of this.#directory.current.clusters.get(cluster) ?? []) {
      try {
        return await this.#post(`${address}${path}`, body, token);
      } catch (error) {
        last = error;
      }
    }
    throw last instanceof ClusterFault
      ? last
      : new ClusterFault(`the cluster ${cluster} does not answer`, { cause: last });
  }

  /** Returns the cluster that has signed a call, or undefined for a call that is none for this cluster. */
  async callerOf(token: string | undefined, path: string, body: Uint8Array): Promise<string | undefined> {
    if (token === undefined) return undefined;
    try {
      const key = this.#keys.get(String(decodeProtectedHeader(token).kid));
      if (!key) return undefined;
      const options = { algorithms: [algorithm], audience: this.#name, maxTokenAge: maxAge, clockTolerance: maxAge };
      const { payload } = await jwtVerify(token, key, options);
      const { iss } = payload;
      const isKnown = iss !== undefined && this.#directory.current.clusters.has(iss);
      return isKnown && payload.digest === digestOf(path, body) ? iss : undefined;
    } catch {
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #post(url: string, body: string, token: string): Promise<unknown> {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(callMs),
      headers: { 'content-type': 'application/json', [callHeader]: token },
      body,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return JSON.parse(text);
    throw new ClusterFault(`${url} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
  }

  #sign(cluster: string, path: string, body: string): Promise<string> {
    const [first] = this.#keys;
    if (!first) throw new ClusterFault('there is no key of clusters');
    const [kid, key] = first;
    return new SignJWT({ digest: digestOf(path, Buffer.from(body)) })
      .setProtectedHeader({ alg: algorithm, kid })
      .setIssuer(this.#name)
      .setAudience(cluster)
      .setIssuedAt()
      .sign(key);
  }
}

function digestOf(path: string, body: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${path}\n`), body]), 'base64url');
}
