import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Planning } from './connections/read-scope.ts';

/**
 * The most seconds that a connection lives. Postgres keeps the prepared statements of a connection until it ends: some
 * 33 KiB for a list's statement, on each connection. A client that varies its documents varies the statements.
 */
export const connectionSeconds = 1_800;

/** The most texts that are named in the lifetime of a connection; others are planned each time. */
const maxNames = 200;

/**
 * The names of prepared statements. A composed text gets a name when it comes for the second time, up to `maxNames`. A
 * connection sees the names of two periods at most, so it never has more than twice that number.
 */
export class StatementNames {
  /** The recent texts that came once, up to 4 million characters: more than a thousand statements of lists. */
  readonly #seen = new LRUCache<string, true>({ maxSize: 4_000_000, sizeCalculation: (_seen, sql) => sql.length });
  readonly #names = new Map<string, string>();
  #since = Date.now();

  /** Returns the name under which a statement is prepared, or '', with which Postgres plans it each time. */
  nameOf(sql: string, planning?: Planning): string {
    if (planning === 'anew') return '';
    if (Date.now() - this.#since >= connectionSeconds * 1_000) {
      this.#names.clear();
      this.#since = Date.now();
    }
    const existing = this.#names.get(sql);
    if (existing !== undefined) return existing;
    if (!this.#seen.has(sql) || this.#names.size >= maxNames) {
      this.#seen.set(sql, true);
      return '';
    }
    const name = createHash('sha1').update(sql).digest('base64url');
    this.#names.set(sql, name);
    return name;
  }
}
