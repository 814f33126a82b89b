import type { CatalogFact } from './catalog.ts';

/** A key that Prisma would make for a table or a relation, and that a trigger replaces according to the schema. */
export interface ReplacedKey {
  /** The key under Prisma's name. */
  readonly key: Omit<CatalogFact, 'definition'>;
  /** The trigger function that does the same check. */
  readonly trigger: string;
}

/**
 * Finds the keys of a schema that are not in the database. A relation without a foreign key follows the line
 * `// No foreign key: the_trigger_function …`, and an `@@id` without a primary key the line
 * `// No primary key: the_trigger_function …`.
 *
 * @param schema text of a schema.prisma
 * @throws when no relation with `fields`, or no `@@id`, follows such a line
 */
export function replacedKeys(schema: string): ReplacedKey[] {
  return [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /^\s*@@map\("(\w+)"\)/m.exec(body)?.[1];
    const columns = new Map(
      [...body.matchAll(/^\s*(\w+)\s.*@map\("(\w+)"\)/gm)].map(([, field, column]) => [field ?? '', column ?? '']),
    );
    const primary = [...body.matchAll(/^\s*\/\/ No primary key: (\w+).*\n(.*)$/gm)].flatMap(
      ([, trigger = '', id = '']) => {
        if (!table || !/^\s*@@id\(/.test(id))
          throw new Error(`"No primary key: ${trigger}" stands above no @@id: ${id.trim()}`);
        // The index of the key has its name.
        const kinds = ['primary key', 'index'] as const;
        return kinds.map((kind) => ({ key: { kind, partOf: table, name: `${table}_pkey` }, trigger }));
      },
    );
    const foreign = [...body.matchAll(/^\s*\/\/ No foreign key: (\w+).*\n(.*)$/gm)].map(
      ([, trigger = '', relation = '']) => {
        const fields = /@relation\(.*?fields: \[([\w, ]+)\]/.exec(relation)?.[1]?.split(', ');
        if (!fields || !table)
          throw new Error(`"No foreign key: ${trigger}" stands above no relation: ${relation.trim()}`);
        const name = [table, ...fields.map((field) => columns.get(field) ?? field), 'fkey'].join('_');
        return { key: { kind: 'foreign key' as const, partOf: table, name }, trigger };
      },
    );
    return [...primary, ...foreign];
  });
}
