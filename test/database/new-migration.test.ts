import { appendFile, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { definitionIn } from '../../src/infra/database/migrations/migration-files.ts';
import { keysByTriggers, missingSql, writeMigration } from '../../src/infra/database/migrations/new-migration.ts';
import { emptyDatabase, ownDatabase } from '../setup/database.ts';
import { query } from '../setup/embedded-servers.ts';
import { grow, madeAt, type PrismaFolder, prismaFolder, smallSchema } from './prisma-folder.ts';

const { url } = inject('server');
let prisma: PrismaFolder;

beforeEach(async () => {
  prisma = await prismaFolder();
});

test("the project's migrations create what its schema and its functions describe", async () => {
  expect(await missingSql(url)).toBe('');
});

test('the catalog contains the triggers that replace foreign keys, but not the keys that they replace', async () => {
  const database = await ownDatabase();
  const triggers = await query<{ name: string }>(
    database.url,
    'select p.proname as name from pg_trigger t join pg_proc p on p.oid = t.tgfoid where not t.tgisinternal',
  );
  const keys = await query<{ conname: string }>(database.url, `select conname from pg_constraint where contype = 'f'`);
  expect(keysByTriggers.size).toBeGreaterThan(0);
  expect(triggers.map(({ name }) => name)).toEqual(expect.arrayContaining([...keysByTriggers.values()]));
  expect(keys.filter(({ conname }) => keysByTriggers.has(conname))).toEqual([]);
});

test('the first migration contains everything, ordered so that it can be applied', async () => {
  const folder = await writeMigration(url, 'begin', prisma.path);
  expect(basename(folder ?? '')).toMatch(/^\d{14}_begin$/);
  const sql = await read(folder);
  const places = [
    definitionIn(madeAt.trim()),
    'CREATE TABLE "parent"',
    'CREATE TABLE "child"',
    'ADD CONSTRAINT',
    grow,
  ].map((part) => sql.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));

  const database = await emptyDatabase();
  expect(await migrate(database.url, { prismaDirectory: prisma.path })).toEqual({ applied: [basename(folder ?? '')] });
});

describe('after the first migration', () => {
  beforeEach(async () => {
    await writeLast('20250101000000_begin');
  });

  test('nothing is written if nothing has changed', async () => {
    expect(await writeMigration(url, 'again', prisma.path)).toBe(undefined);
  });

  test('the next migration contains only the difference', async () => {
    await prisma.write('schema.prisma', smallSchema.replace('Decimal?', 'Decimal'));
    const folder = await writeMigration(url, 'weigh', prisma.path);
    expect(await read(folder)).toBe('-- AlterTable\nALTER TABLE "child" ALTER COLUMN "weight" SET NOT NULL;\n');
  });

  test('objects that were added to a migration by hand and are unknown to Prisma are kept', async () => {
    await addToMigration(`
      create unique index only_heavy on child (weight) where weight > 100;
      create index by_length on parent (length(name));
      alter table parent add constraint named check (name <> '');
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger no_delete before delete on parent for each row execute function refuse();`);
    expect(await missingSql(url, prisma.path)).toBe('');
  });

  test.each([
    ['a type', 'Decimal(12, 2)', 'Decimal(12, 3)', 'ALTER COLUMN "weight" SET DATA TYPE DECIMAL(12,3)'],
    ['a default', '@default(RED)', '@default(GREEN)', `ALTER COLUMN "colour" SET DEFAULT 'GREEN'`],
    ['a default of Postgres', 'made_at()', 'now()', 'ALTER COLUMN "made_at" SET DEFAULT now()'],
    ['a missing default', '@default(dbgenerated("made_at()")) ', '', 'ALTER COLUMN "made_at" DROP DEFAULT'],
    ['a foreign key', 'onDelete: Restrict', 'onDelete: Cascade', 'REFERENCES "parent"("id") ON DELETE CASCADE'],
    ['an enum', 'RED\n', 'RED\n  BLUE\n', `ALTER TYPE "colour" ADD VALUE 'BLUE'`],
    ['an index', '[parentId, colour]', '[colour, parentId]', 'CREATE INDEX "child_colour_parent_id_idx"'],
    ['a unique key', '(12, 2)', '(12, 2) @unique', 'CREATE UNIQUE INDEX "child_weight_key"'],
    ['a table', '\nmodel Child', '\nmodel Lonely {\n  id Int @id\n}\n\nmodel Child', 'CREATE TABLE "Lonely"'],
  ])('a change to the schema is reported as missing from the migrations: %s', async (_what, from, to, difference) => {
    expect(smallSchema).toContain(from);
    await prisma.write('schema.prisma', smallSchema.replace(from, to));
    expect(await missingSql(url, prisma.path)).toContain(difference);
  });

  test.each([
    [`create type mood as enum ('GOOD')`, 'DROP TYPE "mood"'],
    ['create table stray (id int primary key)', 'DROP TABLE "stray"'],
    ['alter table parent add column age int', 'DROP COLUMN "age"'],
    ['create index of_name on parent (name)', 'DROP INDEX "of_name"'],
    ['alter table child alter column made_at set default now()', 'ALTER COLUMN "made_at" SET DEFAULT made_at()'],
    ['alter table child drop constraint child_parent_id_fkey', 'ADD CONSTRAINT "child_parent_id_fkey"'],
  ])('a change to the migrations alone is also reported as a difference: %s', async (sql, difference) => {
    await addToMigration(`${sql};`);
    expect(await missingSql(url, prisma.path)).toContain(difference);
  });

  test('a function is written again when its text changes, even if it changes back to an earlier version', async () => {
    const heavier = grow.replace('+ 1', '+ 2');
    await prisma.write('functions/grow.sql', heavier);
    expect(await writeLast('20250102000000_heavier')).toBe(`${heavier}\n`);
    await prisma.write('functions/grow.sql', grow);
    expect(await writeLast('20250103000000_lighter')).toBe(`${grow}\n`);
    expect(await missingSql(url, prisma.path)).toBe('');
  });
});

async function writeLast(name: string): Promise<string> {
  const folder = await writeMigration(url, 'last', prisma.path);
  const sql = await read(folder);
  await rename(folder ?? '', join(prisma.path, 'migrations', name));
  return sql;
}

async function read(folder: string | undefined): Promise<string> {
  return readFile(join(folder ?? '', 'migration.sql'), 'utf8');
}

async function addToMigration(sql: string): Promise<void> {
  await appendFile(join(prisma.path, 'migrations/20250101000000_begin/migration.sql'), sql);
}
