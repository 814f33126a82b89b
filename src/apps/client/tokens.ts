import { abortable } from './waiting.ts';

/** A client token, as createClientToken returns it. */
export interface ClientToken {
  readonly token: string;
  /** The expiry, in RFC 3339. */
  readonly expiresAt: string | null;
}

/** Requests a client token from the app's own server. Must reject if that fails; it is then called again later. */
export type TokenSource = (signal: AbortSignal) => Promise<ClientToken>;

/** The fraction of a token's lifetime that passes before a new token is requested. */
const usedShare = 0.7;

interface Held {
  readonly token: string;
  /** When a newer token is due, in milliseconds on the `performance.now()` clock. */
  readonly renewAt: number;
}

/** Holds an app's newest client token for all requests and sockets. Sends the app's server one request at a time. */
export class Tokens {
  readonly #source: TokenSource;
  #held: Held | undefined;
  #coming: Promise<Held> | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** Returns the `authorization` header, with the current token if it is fresh enough, otherwise with a new one. */
  async authorization(signal: AbortSignal): Promise<string> {
    const held = this.#held && this.renewalInMs() > 0 ? this.#held : await this.#ask(signal);
    return `Bearer ${held.token}`;
  }

  /** Drops a token that the service has refused, unless there is a newer one already. */
  forget(authorization: string): void {
    if (authorization === `Bearer ${this.#held?.token}`) this.#held = undefined;
  }

  /** Returns the milliseconds until a newer token is due; 0 when it is due now. */
  renewalInMs(): number {
    return this.#held ? Math.max(0, this.#held.renewAt - performance.now()) : 0;
  }

  /** Shares one request among all concurrent callers. A caller that stops waiting does not affect the others. */
  async #ask(signal: AbortSignal): Promise<Held> {
    this.#coming ??= this.#fetch().finally(() => {
      this.#coming = undefined;
    });
    return abortable(this.#coming, signal);
  }

  async #fetch(): Promise<Held> {
    const asked = performance.now();
    const token = await this.#source(AbortSignal.timeout(30_000));
    this.#held = { token: token.token, renewAt: asked + lifeMs(token) * usedShare };
    return this.#held;
  }
}

/** Computes a token's lifetime from the two timestamps inside it, because the device's clock may be wrong. */
function lifeMs({ token, expiresAt }: ClientToken): number {
  try {
    const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
    const { iat, exp } = JSON.parse(atob(payload)) as { readonly iat?: unknown; readonly exp?: unknown };
    if (typeof iat === 'number' && typeof exp === 'number') return (exp - iat) * 1_000;
  } catch {
    // The token is not a JSON Web Token, so only `expiresAt` is used.
  }
  return expiresAt === null ? 24 * 3_600_000 : Date.parse(expiresAt) - Date.now();
}
