import { createHash } from 'node:crypto';
import { glob, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Reads the folder `prisma`: the schema, the functions, and the migrations that create both, in Prisma's layout.

export const projectPrisma = fileURLToPath(new URL('../../../../prisma', import.meta.url));

export interface Migration {
  /** The folder's name: a time, followed by the migration's subject. Migrations are applied in name order. */
  readonly name: string;
  readonly sql: string;
  /** The SHA-256 of the file, in hex, as `_prisma_migrations` stores it. */
  readonly checksum: string;
}

/** Reads the migrations in order, each with the checksum that Prisma stores. */
export async function readMigrations(prismaDirectory: string): Promise<Migration[]> {
  const entries = await readdir(join(prismaDirectory, 'migrations'), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(prismaDirectory, 'migrations', name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Reads the functions: one `create or replace function …;` per file, named after the function. Those with
 * `beforeTables` precede the tables, because column defaults call them. The others may use the tables' types.
 */
export async function readFunctions(prismaDirectory: string) {
  const files = await Array.fromAsync(glob('functions/**/*.sql', { cwd: prismaDirectory }));
  return Promise.all(
    files.sort().map(async (file) => {
      const text = (await readFile(join(prismaDirectory, file), 'utf8')).trim();
      return { name: basename(file, '.sql'), sql: definitionIn(text), beforeTables: /^-- before tables$/m.test(text) };
    }),
  );
}

/** Returns the text of a function without the comment above it, which migrations do not repeat. */
export function definitionIn(text: string): string {
  return text.replace(/^(--.*\n)+/, '');
}
