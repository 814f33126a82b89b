import { OwnConnection } from '../connections/own-connection.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

/** A position in the primary's log. A standby that has replayed it shows everything committed before it. */
export interface Position {
  readonly lsn: bigint;
  /** The server, its timeline and the feed's epoch. Positions from different histories cannot be compared. */
  readonly history: string;
}

/** Reads a position in the write-ahead log, such as `1/2AB`. */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`;
}

/** How long the primary may take to report its position, in milliseconds. After that, it serves the read itself. */
const answerMs = 1_000;

const positionStatement = statement<{ lsn: string; history: string | null }>(
  'read_position',
  'select lsn::text, history from read_position()',
);

/** Finds the end of the primary's log. Concurrent reads share a query, but not one that was sent before they began. */
export class PrimaryPosition {
  readonly #connection: OwnConnection;
  #current: Promise<Position | undefined> | undefined;
  #next: Promise<Position | undefined> | undefined;
  /** The last position found. */
  last: Position | undefined;

  constructor(database: Pick<Database, 'connectionFor'>) {
    const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
    this.#connection = new OwnConnection(() => ({ ...database.connectionFor('read-position'), ...limits }));
  }

  /** Returns a position after every acknowledged commit; undefined if no standby can be compared (read_position). */
  now(): Promise<Position | undefined> {
    if (!this.#current) return this.#begin();
    const begin = () => this.#begin();
    this.#next ??= this.#current.then(begin, begin);
    return this.#next;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #begin(): Promise<Position | undefined> {
    this.#next = undefined;
    const current = this.#ask().finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return current;
  }

  async #ask(): Promise<Position | undefined> {
    const client = await this.#connection.get();
    try {
      const [row] = await positionStatement(client);
      this.last = row && row.history !== null ? { lsn: lsnOf(row.lsn), history: row.history } : undefined;
      return this.last;
    } catch (error) {
      // A different server may be the primary by now.
      this.#connection.drop();
      throw error;
    }
  }
}
