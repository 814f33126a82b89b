import type { CatalogFact } from './catalog.ts';

/** A foreign key that a relation of the schema stands for and that, the schema says, a trigger makes needless. */
export interface ReplacedKey {
  /** As Prisma would call it. */
  readonly key: Omit<CatalogFact, 'definition'>;
  /** The trigger function that sees to the same. */
  readonly trigger: string;
}

/**
 * Reads which relations of a schema say that the database has no foreign key for them. Such a relation stands below the line
 * `// No foreign key: the_trigger_function …`.
 *
 * @param schema text of a schema.prisma
 * @throws when the words do not stand above a relation that has `fields`
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
