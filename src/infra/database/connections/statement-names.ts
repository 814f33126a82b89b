import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from './platform-statement.ts';
import type { Planning } from './read-scope.ts';

const prefix = 'read_';

/** Returns the name under which a statement is prepared, or '' if Postgres should plan it every time. */
export type NameOf = (sql: string, planning?: Planning) => string;

/** Names prepared statements. A composed statement gets a name the second time it occurs. */
export function statementNames(): NameOf {
  // Recent statements' names, or '' for one seen only once. Over a thousand list queries fit in 4 million characters.
  const names = new LRUCache<string, string>({ maxSize: 4_000_000, sizeCalculation: (_name, sql) => sql.length });
  return (sql, planning) => {
    if (planning === 'anew') return '';
    const known = names.get(sql);
    if (known) return known;
    names.set(sql, known === undefined ? '' : prefix + createHash('sha1').update(sql).digest('base64url'));
    return names.get(sql) ?? '';
  };
}

/**
 * Tracks the composed statements that a connection has prepared, and closes all but the 200 most recently used.
 * Postgres needs about 33 KiB for each, and a client that varies its documents keeps creating new ones.
 * @returns a function that records that the connection is about to execute a statement
 */
export function trackStatements(connection: () => Connection): (name: string | undefined) => void {
  const used = new LRUCache<string, true>({
    max: 200,
    dispose(_used, name, reason) {
      if (reason === 'evict') close(connection(), name);
    },
  });
  return (name) => {
    if (name?.startsWith(prefix)) used.set(name, true);
  };
}

/** Closes a prepared statement. The message is sent with the connection's next batch. */
function close(connection: Connection, name: string): void {
  const { parsedStatements, submittedNamedStatements } = connection;
  if (submittedNamedStatements[name] === undefined && parsedStatements[name] === undefined) return;
  delete parsedStatements[name];
  delete submittedNamedStatements[name];
  connection.close({ type: 'S', name });
}
