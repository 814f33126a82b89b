import { OwnConnection } from '../connections/own-connection.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

/** A position in the primary's log. A standby that has replayed the log up to it shows everything committed before. */
export interface Position {
  readonly lsn: bigint;
  /** The same position in Postgres's notation. */
  readonly text: string;
  /** The server, its timeline and the feed's epoch. Positions from different histories cannot be compared. */
  readonly history: string;
}

/** Reads a position in the write-ahead log, such as `1/2AB`. */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** How long the primary may take to report its position, in milliseconds. After that, it serves the read itself. */
const answerMs = 1_000;

const positionStatement = statement<{ lsn: string; history: string | null }>(
  'read_position',
  'select lsn::text, history from read_position()',
);

/** Finds the end of the primary's log. Reads that begin while a query runs share the next one. */
export class PrimaryPosition {
  readonly #connection: OwnConnection;
  #current: Promise<Position | undefined> = Promise.resolve(undefined);
  #next: Promise<Position | undefined> | undefined;

  constructor(database: Pick<Database, 'connectionFor'>) {
    const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
    this.#connection = new OwnConnection(() => ({ ...database.connectionFor('read-position'), ...limits }));
  }

  /**
   * Returns a position that includes every acknowledged commit; undefined if the primary does not report one, or if no
   * standby's position can be compared with it (see read_position).
   */
  now(): Promise<Position | undefined> {
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      return this.#ask();
    });
    this.#current = this.#next;
    return this.#next;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #ask(): Promise<Position | undefined> {
    try {
      const [row] = await positionStatement(await this.#connection.get());
      return row && row.history !== null ? { lsn: lsnOf(row.lsn), text: row.lsn, history: row.history } : undefined;
    } catch {
      // A different server may be the primary by now.
      this.#connection.drop();
      return undefined;
    }
  }
}
