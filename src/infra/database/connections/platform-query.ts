import pg from 'pg';
import { type Connection, type PlatformFirst, sendPlatform } from './platform-statement.ts';

/** The parts of pg's Query that its types do not declare. */
interface PgQuery extends pg.Submittable {
  prepare(connection: unknown): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}
// The version of pg is fixed, and the tests run every statement through these.
const Query = pg.Query as unknown as new (config: object, values: readonly unknown[] | undefined) => PgQuery;

/** pg's own query, which can set the platform first. */
export class PlatformQuery extends Query implements PlatformFirst {
  platform: PlatformFirst['platform'];
  #isSetting = false;

  /** Takes what `pg.Pool.query` takes, except a text of several statements. */
  constructor(config: pg.QueryConfig | string, values: readonly unknown[] | undefined) {
    // Only the protocol of prepared statements sends two statements as one batch.
    super({ ...(typeof config === 'string' ? { text: config } : config), queryMode: 'extended' }, values);
  }

  override prepare(connection: unknown): void {
    if (this.platform) {
      this.#isSetting = true;
      // pg prepares a query on its connection.
      sendPlatform(connection as Connection, this.platform);
    }
    super.prepare(connection);
  }

  override handleDataRow(message: object): void {
    if (!this.#isSetting) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: unknown): void {
    if (this.#isSetting) this.#isSetting = false;
    else super.handleCommandComplete(message, connection);
  }

  override handleReadyForQuery(connection: unknown): void {
    this.platform?.onSet?.();
    super.handleReadyForQuery(connection);
  }
}
