import type { SecretBox } from '../core/secret-box.ts';
import { sealedWith } from '../core/secret-box.ts';
import type { Database } from '../infra/database/database.ts';
import { type Queryable, statement } from '../infra/database/statement.ts';
import type { RailConnections } from './port.ts';

const ownerOf = (platformId: string) => `rail connection ${platformId}`;

const storeStatement = statement<object>(
  'store_rail_connection',
  `insert into rail_connection (platform_id, sealed) values ($1, $2)
   on conflict (platform_id) do update set sealed = excluded.sealed, updated_at = clock_ms()`,
);

/** The platforms' connections to their providers, stored encrypted in the database. */
export class StoredConnections implements RailConnections {
  readonly #database: Database;
  readonly #box: SecretBox | undefined;

  /** @param box encrypts the connections; without it, none can be read or stored */
  constructor(database: Database, box: SecretBox | undefined) {
    this.#database = database;
    this.#box = box;
  }

  async read(platformId: string): Promise<string | undefined> {
    const row = await this.#database.prisma.railConnection.findFirst({ where: { platformId } });
    return row ? this.#requireBox().open(row.sealed, ownerOf(platformId)) : undefined;
  }

  /** Stores a platform's connection, replacing any earlier one. All instances use it from then on. */
  async write(platformId: string, connection: string, on: Queryable = this.#database.pool): Promise<void> {
    await storeStatement(on, platformId, this.#requireBox().seal(connection, ownerOf(platformId)));
  }

  /** Re-encrypts connections that use the key `keyId`. Returns their number. @throws Error if that key is not set */
  async reencrypt(keyId: string): Promise<number> {
    const rows = await this.#database.prisma.railConnection.findMany();
    let changed = 0;
    for (const { platformId, sealed } of rows) {
      if (sealedWith(sealed) !== keyId) continue;
      const box = this.#requireBox();
      const { count } = await this.#database.prisma.railConnection.updateMany({
        // A connection that has changed in the meantime is already encrypted with the current key.
        where: { platformId, sealed },
        data: { sealed: new Uint8Array(box.seal(box.open(sealed, ownerOf(platformId)), ownerOf(platformId))) },
      });
      changed += count;
    }
    return changed;
  }

  #requireBox(): SecretBox {
    if (!this.#box) throw new Error("SECRET_KEY is not set, so the platforms' connections cannot be read or stored");
    return this.#box;
  }
}
