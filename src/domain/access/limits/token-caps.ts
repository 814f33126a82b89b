import type { Viewer } from '../viewer.ts';
import { RateLimited } from './rate-limits.ts';

/** How many of something (sockets, streams) one API token and one client token may have at once. */
export interface Cap {
  readonly apiToken: number;
  readonly clientToken: number;
}

/** The seconds after which a refused client may try again: it must first end one of its own. */
const retryAfter = 1;

export class TokenCap {
  readonly #things: string;
  readonly #cap: Cap;
  readonly #open = new Map<string, number>();

  /** @param things what is counted, in the words of the refusal */
  constructor(things: string, cap: Cap) {
    this.#things = things;
    this.#cap = cap;
  }

  mostOf({ kind }: Pick<Viewer, 'kind'>): number {
    return kind === 'CLIENT' ? this.#cap.clientToken : this.#cap.apiToken;
  }

  /**
   * Counts one more.
   * @returns the function that ends it; further calls of it do nothing. An error where the token has as many as it may
   */
  open(viewer: Viewer): (() => void) | RateLimited {
    const { kind, tokenId } = viewer;
    const most = this.mostOf(viewer);
    const open = this.#open.get(tokenId) ?? 0;
    if (open >= most) {
      const owner = kind === 'CLIENT' ? 'a client token' : 'an API token';
      return new RateLimited(`${owner} can have at most ${most} ${this.#things} at once`, retryAfter);
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
