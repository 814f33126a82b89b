import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * How long a connection lives at most. What Postgres prepares on it is kept until it ends: some 33 KiB for a list's
 * statement, on each connection. And a client that varies its documents varies the statements.
 */
export const connectionSeconds = 1_800;

/** How many texts are prepared while a connection lives; what comes beyond is planned each time. */
const most = 200;

/**
 * Which of the statements that are put together are prepared, and under which names: those that come again, as long as
 * there is room. A connection sees the names of two periods at most, so it never has more than twice their number.
 */
export class StatementNames {
  /** What was asked once, as far as it is remembered: more than a thousand of what lists ask. */
  readonly #seen = new LRUCache<string, true>({ maxSize: 4_000_000, sizeCalculation: (_seen, sql) => sql.length });
  readonly #names = new Map<string, string>();
  #since = Date.now();

  /** The prepared name of a statement, or '', by which Postgres plans it for this once. */
  nameOf(sql: string): string {
    if (Date.now() - this.#since >= connectionSeconds * 1_000) {
      this.#names.clear();
      this.#since = Date.now();
    }
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (!this.#seen.has(sql) || this.#names.size >= most) {
      this.#seen.set(sql, true);
      return '';
    }
    const name = createHash('sha1').update(sql).digest('base64url');
    this.#names.set(sql, name);
    return name;
  }
}
