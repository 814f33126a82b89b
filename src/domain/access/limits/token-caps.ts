import type { Viewer } from '../viewer.ts';
import { RateLimited } from './rate-limits.ts';

/** The number of resources (sockets, streams) that each API token and each client token may hold at a time. */
export interface Cap {
  readonly apiToken: number;
  readonly clientToken: number;
}

/** The number of seconds after which a refused client may retry. It must first release one of its resources. */
const retryAfter = 1;

export class TokenCap {
  readonly #things: string;
  readonly #cap: Cap;
  readonly #open = new Map<string, number>();

  /** @param things the name of the counted resources in the refusal */
  constructor(things: string, cap: Cap) {
    this.#things = things;
    this.#cap = cap;
  }

  mostOf({ kind }: Pick<Viewer, 'kind'>): number {
    return kind === 'CLIENT' ? this.#cap.clientToken : this.#cap.apiToken;
  }

  /**
   * Takes one of the token's resources.
   * @returns the function that releases it, which is idempotent; an error if the token has reached its cap
   */
  open(viewer: Viewer): (() => void) | RateLimited {
    const { kind, tokenId } = viewer;
    const most = this.mostOf(viewer);
    const open = this.#open.get(tokenId) ?? 0;
    if (open >= most) {
      const owner = kind === 'CLIENT' ? 'a client token' : 'an API token';
      return new RateLimited(`${owner} can have at most ${most} ${this.#things} at a time`, retryAfter);
    }
    this.#open.set(tokenId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(tokenId) ?? 0) - 1;
      if (left > 0) this.#open.set(tokenId, left);
      else this.#open.delete(tokenId);
    };
  }
}
