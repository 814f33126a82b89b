import { readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { definitionIn } from '../../src/database/migrations/migration-files.ts';
import { writeMigration } from '../../src/database/migrations/new-migration.ts';
import { emptyDatabase } from '../setup/database.ts';
import { grow, madeAt, type PrismaFolder, prismaFolder, smallSchema } from './prisma-folder.ts';

const { url } = inject('server');
let prisma: PrismaFolder;

beforeEach(async () => {
  prisma = await prismaFolder();
});

afterEach(async () => {
  await prisma.remove();
});

test('the first migration holds everything, in an order that applies', async () => {
  const folder = await writeMigration(url, 'begin', prisma.path);
  expect(basename(folder ?? '')).toMatch(/^\d{14}_begin$/);
  const sql = await read(folder, 'migration.sql');
  const places = [
    definitionIn(madeAt.trim()),
    'CREATE TABLE "parent"',
    'CREATE TABLE "child"',
    'ADD CONSTRAINT',
    grow,
  ].map((part) => sql.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(await read(join(prisma.path, 'migrations'), 'migrated-schema.prisma')).toBe(smallSchema);

  const database = await emptyDatabase();
  expect(await migrate(database.url, { prismaDirectory: prisma.path })).toEqual({ applied: [basename(folder ?? '')] });
  await database.drop();
});

test('nothing is written when nothing has changed', async () => {
  await writeLast('20250101000000_begin');
  expect(await writeMigration(url, 'again', prisma.path)).toBe(undefined);
});

test('the next migration holds the difference alone', async () => {
  await writeLast('20250101000000_begin');
  await prisma.write('schema.prisma', smallSchema.replace('Decimal?', 'Decimal'));
  const folder = await writeMigration(url, 'weigh', prisma.path);
  expect(await read(folder, 'migration.sql')).toBe(
    '-- AlterTable\nALTER TABLE "child" ALTER COLUMN "weight" SET NOT NULL;\n',
  );
});

test('a function is written again when its text has changed, also back to what it once was', async () => {
  await writeLast('20250101000000_begin');
  const heavier = grow.replace('+ 1', '+ 2');
  await prisma.write('functions/grow.sql', heavier);
  expect(await writeLast('20250102000000_heavier')).toBe(`${heavier};\n`);
  await prisma.write('functions/grow.sql', grow);
  expect(await writeLast('20250103000000_lighter')).toBe(`${grow};\n`);
  expect(await writeMigration(url, 'again', prisma.path)).toBe(undefined);
});

/** Writes the next migration under a name that sorts where the test wants it. */
async function writeLast(name: string): Promise<string> {
  const folder = await writeMigration(url, 'last', prisma.path);
  const sql = await read(folder, 'migration.sql');
  await rename(folder ?? '', join(prisma.path, 'migrations', name));
  return sql;
}

async function read(folder: string | undefined, file: string): Promise<string> {
  return readFile(join(folder ?? '', file), 'utf8');
}
