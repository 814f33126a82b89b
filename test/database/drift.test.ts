import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { findDrift } from '../../src/database/migrations/drift.ts';
import { writeMigration } from '../../src/database/migrations/new-migration.ts';
import { grow, madeAt, type PrismaFolder, prismaFolder, smallSchema } from './prisma-folder.ts';

const { url } = inject('server');

test("the project's migrations make what its schema and its functions describe", async () => {
  expect(await findDrift(url)).toEqual([]);
});

describe('in a folder of our own', () => {
  let prisma: PrismaFolder;

  beforeEach(async () => {
    prisma = await prismaFolder();
    await writeMigration(url, 'begin', prisma.path);
  });

  afterEach(async () => {
    await prisma.remove();
  });

  test('what a migration adds by hand is no drift', async () => {
    await addToMigration(`
      create unique index only_heavy on child (weight) where weight > 100;
      alter table parent add constraint named check (name <> '');
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger no_delete before delete on parent for each row execute function refuse();`);
    expect(await findDrift(url, prisma.path)).toEqual([]);
  });

  test.each([
    ['a type', 'Decimal(12, 2)', 'Decimal(12, 3)', /^column child\.weight is "numeric\(12,3\)" in the schema/],
    ['nullability', 'Decimal?', 'Decimal', /^column child\.weight is "numeric\(12,2\) not null" in the schema/],
    ['a default', '@default(RED)', '@default(GREEN)', /^column child\.colour is .*'GREEN'.* the migrations .*'RED'/],
    ['a foreign key', 'onDelete: Restrict', 'onDelete: Cascade', /^foreign key child\.child_parent_id_fkey .* CASCADE/],
    ['an enum', 'RED\n', 'RED\n  BLUE\n', /^enum colour is "RED, BLUE, GREEN" in the schema/],
    [
      'an index',
      '[parentId, colour]',
      '[colour, parentId]',
      /^index child\.child_colour_parent_id_idx .* no migration/,
    ],
    ['a unique key', '(12, 2)', '(12, 2) @unique', /^index child\.child_weight_key .* no migration/],
  ])('a change of the schema is drift: %s', async (_what, from, to, difference) => {
    expect(smallSchema).toContain(from);
    await prisma.write('schema.prisma', smallSchema.replace(from, to));
    expect(await findDrift(url, prisma.path)).toEqual([expect.stringMatching(difference)]);
  });

  test('a table that no migration makes is one difference', async () => {
    await prisma.write('schema.prisma', `${smallSchema}\nmodel Lonely {\n  id Int @id\n  word String @unique\n}\n`);
    expect(await findDrift(url, prisma.path)).toEqual(['table Lonely is in the schema, but no migration makes it']);
  });

  test('a table, a column or an enum that the schema does not know is drift', async () => {
    await addToMigration(`
      create type mood as enum ('GOOD');
      create table stray (id int primary key);
      alter table parent add column age int;`);
    expect(await findDrift(url, prisma.path)).toEqual([
      'column parent.age is made by the migrations, but is not in the schema',
      'enum mood is made by the migrations, but is not in the schema',
      'table stray is made by the migrations, but is not in the schema',
    ]);
  });

  describe('where the schema says that a trigger takes the place of a foreign key', () => {
    const guard = `create function guard_child() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger guard before insert on child for each row execute function guard_child();`;
    const without = 'alter table child drop constraint child_parent_id_fkey;';
    beforeEach(async () => {
      const relation = '  parent Parent @relation';
      const words = '  // No foreign key: guard_child refuses an unknown parent.\n';
      expect(smallSchema).toContain(relation);
      await prisma.write('schema.prisma', smallSchema.replace(relation, `${words}${relation}`));
    });

    test('there is the one and not the other', async () => {
      await addToMigration(`${guard}${without}`);
      expect(await findDrift(url, prisma.path)).toEqual([]);
    });

    test('a foreign key that is there all the same is drift', async () => {
      await addToMigration(guard);
      expect(await findDrift(url, prisma.path)).toEqual([
        'foreign key child.child_parent_id_fkey is made by the migrations, but the schema says that guard_child takes its place',
      ]);
    });

    test('a trigger function that no trigger calls is drift', async () => {
      await addToMigration(`${guard}${without} drop trigger guard on child;`);
      expect(await findDrift(url, prisma.path)).toEqual([
        'foreign key child.child_parent_id_fkey has guard_child in its place, the schema says, but no trigger calls that',
      ]);
    });

    test('the words must stand above a relation', async () => {
      const words = '  // No foreign key: guard_child\n  name ';
      await prisma.write('schema.prisma', smallSchema.replace('  name ', words));
      await expect(findDrift(url, prisma.path)).rejects.toThrow(
        /^"No foreign key: guard_child" stands above no relation/,
      );
    });
  });

  test('a schema that the migrations make, but that the copy beside them does not say, is drift', async () => {
    await prisma.write('schema.prisma', smallSchema.replace('Decimal?', 'Decimal'));
    await addToMigration('alter table child alter weight set not null;');
    expect(await findDrift(url, prisma.path)).toEqual([
      'the migrations make this schema, but migrated-schema.prisma beside them is not yet a copy of it',
    ]);
  });

  test('a changed, a new and an incompatible function are drift', async () => {
    await prisma.write('functions/grow.sql', grow.replace('+ 1', '+ 2'));
    await prisma.write('functions/made_at.sql', madeAt.replace('language', 'stable language'));
    await prisma.write('functions/shrink.sql', grow.replace('grow', 'shrink'));
    expect(await findDrift(url, prisma.path)).toEqual([
      'function grow(child) is not the one that the migrations made',
      'function made_at() is not the one that the migrations made',
      'function shrink(child) has a file, but no migration makes it',
    ]);

    await prisma.write('functions/grow.sql', grow.replace('returns numeric', 'returns text'));
    expect(await findDrift(url, prisma.path)).toContainEqual(
      expect.stringMatching(/^function grow cannot take the place .* cannot change return type/),
    );
  });

  async function addToMigration(sql: string): Promise<void> {
    const migrations = join(prisma.path, 'migrations');
    const [first] = (await readdir(migrations)).filter((name) => name.endsWith('_begin'));
    await appendFile(join(migrations, first ?? '', 'migration.sql'), sql);
  }
});
