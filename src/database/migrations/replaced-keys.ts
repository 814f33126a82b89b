import type { CatalogFact } from './catalog.ts';

/** A foreign key that Prisma would make for a relation, and that a trigger replaces according to the schema. */
export interface ReplacedKey {
  /** The key under Prisma's name. */
  readonly key: Omit<CatalogFact, 'definition'>;
  /** The trigger function that does the same check. */
  readonly trigger: string;
}

/**
 * Finds the relations of a schema that have no foreign key in the database. Such a relation follows the line
 * `// No foreign key: the_trigger_function …`.
 *
 * @param schema text of a schema.prisma
 * @throws when no relation with `fields` follows such a line
 */
export function replacedKeys(schema: string): ReplacedKey[] {
  return [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /^\s*@@map\("(\w+)"\)/m.exec(body)?.[1];
    const columns = new Map(
      [...body.matchAll(/^\s*(\w+)\s.*@map\("(\w+)"\)/gm)].map(([, field, column]) => [field ?? '', column ?? '']),
    );
    return [...body.matchAll(/^\s*\/\/ No foreign key: (\w+).*\n(.*)$/gm)].map(([, trigger = '', relation = '']) => {
      const fields = /@relation\(.*?fields: \[([\w, ]+)\]/.exec(relation)?.[1]?.split(', ');
      if (!fields || !table)
        throw new Error(`"No foreign key: ${trigger}" stands above no relation: ${relation.trim()}`);
      const name = [table, ...fields.map((field) => columns.get(field) ?? field), 'fkey'].join('_');
      return { key: { kind: 'foreign key', partOf: table, name }, trigger };
    });
  });
}
