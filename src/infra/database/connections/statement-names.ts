import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from './platform-statement.ts';
import type { Planning } from './read-scope.ts';

/** The prefix of the names of composed statements, which the names of declared statements do not have. */
const prefix = 'read_';

/** The names of prepared statements. A composed text gets one when it comes for the second time. */
export class StatementNames {
  /** The recent texts, up to 4 million characters: more than a thousand statements of lists. A text that came once has no name. */
  readonly #names = new LRUCache<string, string>({ maxSize: 4_000_000, sizeCalculation: (_name, sql) => sql.length });

  /** Returns the name under which a statement is prepared, or '', with which Postgres plans it each time. */
  nameOf(sql: string, planning?: Planning): string {
    if (planning === 'anew') return '';
    const known = this.#names.get(sql);
    if (known) return known;
    this.#names.set(sql, known === undefined ? '' : prefix + createHash('sha1').update(sql).digest('base64url'));
    return this.#names.get(sql) ?? '';
  }
}

/**
 * The composed statements that a connection has prepared: the 200 that were used last. Postgres keeps some 33 KiB for that of a
 * list, and a client that varies its documents varies the statements.
 */
export class PreparedStatements {
  readonly #used: LRUCache<string, true>;

  /** @param connection of pg, which `outdated` closes a statement on */
  constructor(connection: () => Connection) {
    this.#used = new LRUCache<string, true>({
      max: 200,
      dispose(_used, name, reason) {
        if (reason === 'evict') close(connection(), name);
      },
    });
  }

  /** Records that the connection executes a statement, before it does. */
  use(name: string | undefined): void {
    if (name?.startsWith(prefix)) this.#used.set(name, true);
  }
}

/** Ends a prepared statement, with the next batch that the connection sends. */
function close(connection: Connection, name: string): void {
  const { parsedStatements, submittedNamedStatements } = connection;
  if (submittedNamedStatements[name] === undefined && parsedStatements[name] === undefined) return;
  delete parsedStatements[name];
  delete submittedNamedStatements[name];
  connection.close({ type: 'S', name });
}
