import { LRUCache } from 'lru-cache';
import { asPlatform } from './connections/platform-scope.ts';
import { type FindRow, type Reference, unchangingFields } from './predicates.ts';
import { type Noun, readRows } from './read-rows.ts';

type Row = Readonly<Record<string, unknown>>;

const maxRows = 20_000;

/** Caches the rows that predicates refer to, with the fields that never change, so that each row is read once. */
export class ReferredRows {
  readonly #database: Parameters<typeof readRows>[0];
  // As in core/bounded-cache.ts, which database modules are not allowed to import.
  readonly #known = new LRUCache<string, Row>({ maxSize: maxRows, sizeCalculation: () => 1 });

  constructor(database: Parameters<typeof readRows>[0]) {
    this.#database = database;
  }

  /** Reads the rows that these rows refer to, and returns a function that finds them. */
  async of(platformId: string, references: readonly Reference[], rows: readonly Row[]): Promise<FindRow> {
    for (const { model, field } of references) {
      const ids = new Set(rows.map((row) => row[field]).filter((id) => typeof id === 'string'));
      const missing = [...ids].filter((id) => !this.#known.has(keyOf(model, id)));
      // Rows of the models that a feed follows refer only to rows of other such models.
      if (missing.length > 0) await this.#read(platformId, model as Noun, missing);
    }
    return (model, id) => this.#known.get(keyOf(model, id));
  }

  async #read(platformId: string, model: Noun, ids: readonly string[]): Promise<void> {
    const where = { platformId, id: { in: [...ids] } };
    const rows: readonly Row[] = await asPlatform(platformId, () => readRows(this.#database, model, { where }));
    for (const row of rows) {
      const fields = unchangingFields(model).map((name) => [name, row[name]] as const);
      this.#known.set(keyOf(model, String(row.id)), Object.fromEntries(fields));
    }
  }
}

const keyOf = (model: string, id: string) => `${model}:${id}`;
