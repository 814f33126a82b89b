import pg from 'pg';
import { rolledBack } from '../transaction.ts';
import { type CatalogFact, readFacts, readFunctionDefinitions, readTriggerFunctions } from './catalog.ts';
import { migrate } from './migrate.ts';
import { projectPrisma, readFunctions, readMigratedSchema, readSchema, type SqlFunction } from './migration-files.ts';
import { type ReplacedKey, replacedKeys } from './replaced-keys.ts';
import { schemaDiff } from './schema-diff.ts';
import { createThrowawayDatabase, startThrowawayPostgres } from './throwaway.ts';

/**
 * Compares what the migrations make with what `schema.prisma` and `functions` say, in two new databases that are gone
 * afterwards. Everything that Prisma would make must be there, the same. More indexes, constraints, triggers and
 * functions are what migrations are written by hand for; tables, columns and enums that the schema does not know are
 * drift. Where the schema says that a trigger takes the place of a foreign key, there must be the one and not the other.
 *
 * @param serverUrl a superuser's, or of someone who may create databases
 * @returns the differences, in words
 */
export async function findDrift(serverUrl: string, prismaDirectory = projectPrisma): Promise<string[]> {
  const schema = await readSchema(prismaDirectory);
  const functions = await readFunctions(prismaDirectory);

  const described = await inNewDatabase(serverUrl, async (client) => {
    for (const { sql } of functions.filter((one) => one.beforeTables)) await client.query(sql);
    await client.query(await schemaDiff(serverUrl, undefined, schema));
    return readFacts(client);
  });

  return inNewDatabase(serverUrl, async (client, url) => {
    await migrate(url, { prismaDirectory });
    const migrated = await readFacts(client);
    const replaced = replacedKeys(schema);
    const drift = [
      ...compareFacts(described, migrated, replaced),
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
  described: readonly CatalogFact[],
  migrated: readonly CatalogFact[],
  replaced: readonly ReplacedKey[],
): string[] {
  const replacedNames = new Set(replaced.map(({ key }) => fullName(key)));
  const inSchema = new Map(described.map((fact) => [fullName(fact), fact]));
  const inDatabase = new Map(migrated.map((fact) => [fullName(fact), fact]));
  // Of a table that is missing as a whole, its columns and keys need not be named.
  const isPartOf = (facts: ReadonlyMap<string, CatalogFact>) => (fact: CatalogFact) =>
    fact.partOf === null || facts.has(`table ${fact.partOf}`);
  const isWanted = (fact: CatalogFact) => isPartOf(inDatabase)(fact) && !replacedNames.has(fullName(fact));

  const wanting = described.filter(isWanted).flatMap((fact) => {
    const actual = inDatabase.get(fullName(fact));
    if (!actual) return [`${fullName(fact)} is in the schema, but no migration makes it`];
    if (actual.definition === fact.definition) return [];
    return [
      `${fullName(fact)} is "${fact.definition}" in the schema, but the migrations make it "${actual.definition}"`,
    ];
  });
  const extra = migrated
    .filter(isPartOf(inSchema))
    .filter((fact) => ['table', 'column', 'enum'].includes(fact.kind) && !inSchema.has(fullName(fact)))
    .map((fact) => `${fullName(fact)} is made by the migrations, but is not in the schema`);
  return [...wanting, ...extra];
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

/** Creates each function over the one that the migrations made, in a transaction that is rolled back. */
async function compareFunctions(client: pg.Client, functions: readonly SqlFunction[]): Promise<string[]> {
  const drift: string[] = [];
  for (const { name, sql } of functions) {
    await rolledBack(client, async () => {
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
