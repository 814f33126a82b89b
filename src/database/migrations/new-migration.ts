import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import {
  type Migration,
  migratedSchemaFile,
  projectPrisma,
  readFunctions,
  readMigratedSchema,
  readMigrations,
  readSchema,
  type SqlFunction,
} from './migration-files.ts';
import { schemaDiff } from './schema-diff.ts';
import { startThrowawayPostgres } from './throwaway.ts';

/**
 * Writes the next migration: the changes of `schema.prisma` since the last one (`readMigratedSchema`), and every function
 * whose text differs from the one that the migrations install. Functions that column defaults call come before the
 * tables, the others after.
 *
 * @param databaseUrl any Postgres, for `schemaDiff`
 * @returns the new migration's folder, or undefined when nothing has changed
 */
export async function writeMigration(
  databaseUrl: string,
  name: string,
  prismaDirectory = projectPrisma,
): Promise<string | undefined> {
  const migrations = await readMigrations(prismaDirectory);
  const schema = await readSchema(prismaDirectory);
  const tables = await schemaDiff(databaseUrl, await readMigratedSchema(prismaDirectory), schema);
  const functions = (await readFunctions(prismaDirectory)).filter((candidate) => !isInstalled(candidate, migrations));
  if (!tables && functions.length === 0) return undefined;

  const before = functions.filter(({ beforeTables }) => beforeTables);
  const after = functions.filter(({ beforeTables }) => !beforeTables);
  const parts = [...before.map(asStatement), tables.trim(), ...after.map(asStatement)].filter(Boolean);

  const folder = join(prismaDirectory, 'migrations', `${timestamp(new Date())}_${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), `${parts.join('\n\n')}\n`);
  await writeFile(migratedSchemaFile(prismaDirectory), schema);
  // Prisma's own commands require this file.
  await writeFile(join(prismaDirectory, 'migrations', 'migration_lock.toml'), 'provider = "postgresql"\n');
  return folder;
}

/** Says whether the last migration that defines the function has this text. */
function isInstalled({ name, sql }: SqlFunction, migrations: readonly Migration[]): boolean {
  const definition = new RegExp(`create\\s+(or\\s+replace\\s+)?function\\s+"?${name}"?\\s*\\(`, 'i');
  return migrations.findLast((migration) => definition.test(migration.sql))?.sql.includes(sql) ?? false;
}

function asStatement({ sql }: SqlFunction): string {
  return sql.endsWith(';') ? sql : `${sql};`;
}

/** Formats a time as Prisma names its migrations, in UTC and to the second: 20251013090000. */
function timestamp(now: Date): string {
  return now.toISOString().slice(0, 19).replaceAll(/\D/g, '');
}

if (import.meta.main) {
  const name = process.argv[2] ?? '';
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    console.error('Say what the migration is about, in lower case: npm run migration -- add_refund_reason');
    process.exit(2);
  }
  const server = await startThrowawayPostgres();
  const folder = await writeMigration(server.url, name).finally(() => server.stop());
  if (folder === undefined) {
    console.error('Nothing to write: the migrations already make prisma/schema.prisma and prisma/functions.');
    process.exit(1);
  }
  console.log(`Wrote ${relative(process.cwd(), folder)}/migration.sql. Now, before anything applies it:
  - Read it. Prisma renames by dropping: where it drops a column or table whose rows matter, write the move instead.
  - Add what the schema cannot say: checks, triggers, partial indexes, rows of lookup tables.
  - A function whose arguments or result changed must be dropped before it is created.
  - npm run check:migrations proves that the migrations, the schema and the functions agree.`);
}
