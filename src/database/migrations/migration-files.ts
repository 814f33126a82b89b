import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Reads the folder `prisma`: the schema, the functions, and the migrations that make both, in Prisma's layout.

export const projectPrisma = fileURLToPath(new URL('../../../prisma', import.meta.url));

export interface Migration {
  /** Also its folder: the second when it was written, and its subject. Migrations apply in the order of their names. */
  readonly name: string;
  readonly sql: string;
  /** The SHA-256 of the file, in hex, as `_prisma_migrations` stores it. */
  readonly checksum: string;
}

export interface SqlFunction {
  readonly name: string;
  readonly sql: string;
  /** Whether column defaults call it, so that it must exist before the tables. Others may name a table's row type. */
  readonly beforeTables: boolean;
}

/** Reads all migrations, in the order in which they apply. */
export async function readMigrations(prismaDirectory: string): Promise<Migration[]> {
  const entries = await entriesOf(join(prismaDirectory, 'migrations'));
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(prismaDirectory, 'migrations', name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Reads the functions: one `create or replace function` per file, named like the file. */
export async function readFunctions(prismaDirectory: string): Promise<SqlFunction[]> {
  const entries = await entriesOf(join(prismaDirectory, 'functions'));
  const files = entries.map((entry) => entry.name).filter((file) => file.endsWith('.sql'));
  return Promise.all(
    files.sort().map(async (file) => {
      const text = (await readFile(join(prismaDirectory, 'functions', file), 'utf8')).trim();
      return { name: basename(file, '.sql'), sql: definitionIn(text), beforeTables: /^-- before tables$/m.test(text) };
    }),
  );
}

/** Returns the text of a function without the comment above it: migrations do not say again what it does. */
export function definitionIn(text: string): string {
  return text.replace(/^(--.*\n)+/, '');
}

export async function readSchema(prismaDirectory: string): Promise<string> {
  return readFile(join(prismaDirectory, 'schema.prisma'), 'utf8');
}

/**
 * Returns the path of the schema that the migrations make: a copy of schema.prisma from when the last one was written. The
 * next migration is the difference. Prisma's own tool runs all migrations in a second database instead, which its
 * WebAssembly build cannot.
 */
export function migratedSchemaFile(prismaDirectory: string): string {
  return join(prismaDirectory, 'migrations', 'migrated-schema.prisma');
}

/** Reads the schema that the migrations make; undefined where there are none yet. */
export async function readMigratedSchema(prismaDirectory: string): Promise<string | undefined> {
  return readFile(migratedSchemaFile(prismaDirectory), 'utf8').catch(unlessMissing);
}

async function entriesOf(folder: string) {
  return (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? [];
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
