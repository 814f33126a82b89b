import pg from 'pg';
import { inRolledBackTransaction } from '../transaction.ts';
import { type CatalogFact, readFacts, readFunctionDefinitions, readTriggerFunctions } from './catalog.ts';
import { migrate } from './migrate.ts';
import { projectPrisma, readFunctions, readMigratedSchema, readSchema, type SqlFunction } from './migration-files.ts';
import { type ReplacedKey, replacedKeys } from './replaced-keys.ts';
import { schemaDiff } from './schema-diff.ts';
import { createThrowawayDatabase, startThrowawayPostgres } from './throwaway.ts';

/**
 * Compares what the migrations make with what `schema.prisma` and `functions` describe, in two new databases that are
 * dropped afterwards. The migrations must make all that Prisma would make, in the same form. They may add indexes,
 * constraints, triggers and functions, but no tables, columns or enums. Where the schema says that a trigger replaces a
 * foreign key, there must be the trigger and no key.
 *
 * @param serverUrl connects a superuser, or a user who may create databases
 * @returns the differences, as sentences
 */
export async function findDrift(serverUrl: string, prismaDirectory = projectPrisma): Promise<string[]> {
  const schema = await readSchema(prismaDirectory);
  const functions = await readFunctions(prismaDirectory);

  const expected = await inNewDatabase(serverUrl, async (client) => {
    for (const { sql } of functions.filter(({ beforeTables }) => beforeTables)) await client.query(sql);
    await client.query(await schemaDiff(serverUrl, undefined, schema));
    return readFacts(client);
  });

  return inNewDatabase(serverUrl, async (client, url) => {
    await migrate(url, { prismaDirectory });
    const migrated = await readFacts(client);
    const replaced = replacedKeys(schema);
    const drift = [
      ...compareFacts(expected, migrated, replaced),
      ...compareReplacedKeys(replaced, migrated, await readTriggerFunctions(client)),
      ...(await compareFunctions(client, functions)),
    ];
    if (drift.length > 0) return drift;
    const stale = await schemaDiff(serverUrl, await readMigratedSchema(prismaDirectory), schema);
    return stale
      ? ['the migrations make this schema, but migrated-schema.prisma beside them is not yet a copy of it']
      : [];
  });
}

function compareFacts(
  expected: readonly CatalogFact[],
  migrated: readonly CatalogFact[],
  replaced: readonly ReplacedKey[],
): string[] {
  const replacedNames = new Set(replaced.map(({ key }) => fullName(key)));
  const inSchema = new Map(expected.map((fact) => [fullName(fact), fact]));
  const inDatabase = new Map(migrated.map((fact) => [fullName(fact), fact]));
  // Where a whole table is missing, its columns and keys are not reported.
  const hasTableIn = (facts: ReadonlyMap<string, CatalogFact>) => (fact: CatalogFact) =>
    fact.partOf === null || facts.has(`table ${fact.partOf}`);
  const isRequired = (fact: CatalogFact) => hasTableIn(inDatabase)(fact) && !replacedNames.has(fullName(fact));

  const missing = expected.filter(isRequired).flatMap((fact) => {
    const actual = inDatabase.get(fullName(fact));
    if (!actual) return [`${fullName(fact)} is in the schema, but no migration makes it`];
    if (actual.definition === fact.definition) return [];
    return [
      `${fullName(fact)} is "${fact.definition}" in the schema, but the migrations make it "${actual.definition}"`,
    ];
  });
  const extra = migrated
    .filter(hasTableIn(inSchema))
    .filter((fact) => ['table', 'column', 'enum'].includes(fact.kind) && !inSchema.has(fullName(fact)))
    .map((fact) => `${fullName(fact)} is made by the migrations, but is not in the schema`);
  return [...missing, ...extra];
}

function fullName({ kind, partOf, name }: Omit<CatalogFact, 'definition'>): string {
  return partOf === null ? `${kind} ${name}` : `${kind} ${partOf}.${name}`;
}

function compareReplacedKeys(
  replaced: readonly ReplacedKey[],
  migrated: readonly CatalogFact[],
  triggers: ReadonlySet<string>,
): string[] {
  const actual = new Set(migrated.map(fullName));
  return replaced.flatMap(({ key, trigger }) => [
    ...(actual.has(fullName(key))
      ? [`${fullName(key)} is made by the migrations, but the schema says that ${trigger} takes its place`]
      : []),
    ...(triggers.has(trigger)
      ? []
      : [`${fullName(key)} has ${trigger} in its place, the schema says, but no trigger calls that`]),
  ]);
}

/** Replaces each function that the migrations made by the one of its file, in a transaction that is rolled back. */
async function compareFunctions(client: pg.Client, functions: readonly SqlFunction[]): Promise<string[]> {
  const drift: string[] = [];
  for (const { name, sql } of functions) {
    await inRolledBackTransaction(client, async () => {
      const migrated = await readFunctionDefinitions(client);
      await client.query(sql);
      for (const [signature, definition] of await readFunctionDefinitions(client)) {
        if (!migrated.has(signature)) drift.push(`function ${signature} has a file, but no migration makes it`);
        else if (migrated.get(signature) !== definition)
          drift.push(`function ${signature} is not the one that the migrations made`);
      }
    }).catch((error: unknown) => {
      drift.push(`function ${name} cannot take the place of what the migrations made: ${error}`);
    });
  }
  return drift;
}

async function inNewDatabase<T>(serverUrl: string, work: (client: pg.Client, url: string) => Promise<T>): Promise<T> {
  const database = await createThrowawayDatabase(serverUrl);
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    return await work(client, database.url);
  } finally {
    await client.end();
    await database.drop();
  }
}

if (import.meta.main) {
  const server = await startThrowawayPostgres();
  const drift = await findDrift(server.url).finally(() => server.stop());
  for (const difference of drift) console.error(difference);
  if (drift.length > 0) process.exit(1);
  console.log('The migrations make what prisma/schema.prisma and prisma/functions describe.');
}
