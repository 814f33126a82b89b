import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, type SqlQuery } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { withClient } from '../advisory-lock.ts';
import { catalogFile, printCatalog, readCatalog } from './catalog.ts';
import { migrate } from './migrate.ts';
import { projectPrisma, readFunctions, readMigrations } from './migration-files.ts';
import { createThrowawayDatabase, startThrowawayPostgres } from './throwaway.ts';

/** Foreign keys that the schema implies but the database does not have, with the triggers that replace them. */
export const keysByTriggers: ReadonlyMap<string, string> = new Map([
  ['posting_platform_id_journal_id_fkey', 'check_legs'],
]);

/** Constraints added to or removed from migrations by hand. `webhook_delivery_event` refers to a view's base table. */
const byHand: ReadonlySet<string> = new Set([...keysByTriggers.keys(), 'webhook_delivery_event']);

/**
 * Returns the SQL that the migrations lack: the changes that make a fully migrated database match `schema.prisma`, and
 * each function that differs. Functions that column defaults call come before the tables.
 * @param serverUrl the connection URL of a server, with a user who may create databases
 */
export async function missingSql(serverUrl: string, prismaDirectory = projectPrisma): Promise<string> {
  const schema = await readFile(join(prismaDirectory, 'schema.prisma'), 'utf8');
  const changes = await ofMigrated(serverUrl, prismaDirectory, (url) => schemaDiff(url, schema));
  const constraint = / (?:ADD|DROP) CONSTRAINT "(\w+)"/;
  const tables = changes.split(/\n\n(?=-- )/).filter((sql) => !byHand.has(constraint.exec(sql)?.[1] ?? ''));
  const migrations = (await readMigrations(prismaDirectory)).map(({ sql }) => sql);
  const functions = (await readFunctions(prismaDirectory)).filter(({ name, sql }) => {
    const definition = new RegExp(`create\\s+(or\\s+replace\\s+)?function\\s+"?${name}"?\\s*\\(`, 'i');
    return !migrations.findLast((migration) => definition.test(migration))?.includes(sql);
  });
  const { before = [], after = [] } = Object.groupBy(functions, (one) => (one.beforeTables ? 'before' : 'after'));
  return [...before.map(({ sql }) => sql), ...tables, ...after.map(({ sql }) => sql)].filter(Boolean).join('\n\n');
}

/** Runs `work` on a temporary, fully migrated database. */
async function ofMigrated<T>(serverUrl: string, prismaDirectory: string, work: (url: string) => Promise<T>) {
  const database = await createThrowawayDatabase(serverUrl);
  try {
    await migrate(database.url, { prismaDirectory });
    return await work(database.url);
  } finally {
    await database.drop();
  }
}

/** Writes the next migration. Returns its folder, or undefined if nothing has changed. */
export async function writeMigration(serverUrl: string, name: string, prismaDirectory = projectPrisma) {
  const sql = await missingSql(serverUrl, prismaDirectory);
  if (sql === '') return undefined;
  // Prisma starts a migration's name with the UTC time to the second, such as 20251013090000.
  const second = new Date().toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const folder = join(prismaDirectory, 'migrations', `${second}_${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), `${sql}\n`);
  return folder;
}

const madeCatalog = (serverUrl: string) =>
  ofMigrated(serverUrl, projectPrisma, (url) =>
    withClient(url, async (client) => printCatalog(await readCatalog(client))),
  );

const advice = `Now, before anything applies it:
  - Read it. Prisma renames by dropping: if it drops a column or table whose data matters, write a statement that moves the data instead.
  - Add what the schema cannot express: checks, triggers, partial indexes, rows of lookup tables.
  - A function whose arguments or result changed must be dropped before it is created.
  - npm run migration -- --catalog writes prisma/catalog.json, with which the doctor compares a database.
  - npm run check:migrations proves that the migrations, the schema and the functions agree.`;

/** Returns the SQL that makes a database match a Prisma schema, as `prisma migrate diff` writes it. */
async function schemaDiff(databaseUrl: string, schema: string): Promise<string> {
  const files = [{ path: 'schema.prisma', content: schema }];
  const { exitCode, stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    }),
  );
  // Exit code 2 means that there is a difference. Otherwise, the script is only a comment.
  return exitCode === 2 ? (stdout ?? '').trim() : '';
}

/** Runs `work` with the WebAssembly build of Prisma's schema engine. Many networks block downloads of native builds. */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const adapter = bindMigrationAwareSqlAdapterFactory(new CatalogAdapter(pool));
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** The OIDs of "char" and "char"[]. The engine reads "char" from the catalog, but adapter-pg supports only "char"[]. */
const [CHAR, CHAR_ARRAY] = [18, 1002];

class CatalogAdapter extends PrismaPg {
  constructor(pool: pg.Pool) {
    const send = pool.query.bind(pool);
    const query = async (text: pg.QueryArrayConfig) => {
      const result = await send(text);
      for (const field of result.fields ?? []) if (field.dataTypeID === CHAR) field.dataTypeID = CHAR_ARRAY;
      return result;
    };
    super(Object.assign(pool, { query }));
  }

  override async connect() {
    const adapter = await super.connect();
    const read = adapter.queryRaw.bind(adapter);
    const { Character, CharacterArray } = ColumnTypeEnum;
    adapter.queryRaw = async (query: SqlQuery) => {
      const { columnTypes, ...result } = await read(query);
      return { ...result, columnTypes: columnTypes.map((type) => (type === CharacterArray ? Character : type)) };
    };
    return adapter;
  }
}

if (import.meta.main) {
  const [name = ''] = process.argv.slice(2);
  if (name !== '--check' && name !== '--catalog' && !/^[a-z][a-z0-9_]*$/.test(name)) {
    console.error('Name the subject of the migration, in lower case: npm run migration -- add_refund_reason');
    process.exit(2);
  }
  const server = await startThrowawayPostgres();
  const fault = await run(server.url, name).finally(() => server.stop());
  if (fault !== undefined) {
    console.error(fault);
    process.exit(1);
  }
}

/** Runs the command. `name` is a migration's name or an option. @returns a message if something is wrong */
async function run(serverUrl: string, name: string): Promise<string | undefined> {
  const described = 'prisma/schema.prisma and prisma/functions';
  if (name === '--catalog') {
    await writeFile(catalogFile, await madeCatalog(serverUrl));
  } else if (name === '--check') {
    const sql = await missingSql(serverUrl);
    if (sql !== '') return `The migrations do not match ${described}. They lack:\n\n${sql}`;
    if ((await madeCatalog(serverUrl)) !== (await readFile(catalogFile, 'utf8').catch(() => '')))
      return 'prisma/catalog.json does not match the migrations: run "npm run migration -- --catalog".';
    console.log(`The migrations match ${described}.`);
  } else {
    const folder = await writeMigration(serverUrl, name);
    if (folder === undefined) return `Nothing to write: the migrations already match ${described}.`;
    console.log(`Wrote ${relative(process.cwd(), folder)}/migration.sql. ${advice}`);
  }
  return undefined;
}
