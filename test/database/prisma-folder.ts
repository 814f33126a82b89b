import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export type PrismaFolder = Awaited<ReturnType<typeof prismaFolder>>;

export const smallSchema = `
generator client {
  provider = "prisma-client"
  output   = "unused"
}

datasource db {
  provider = "postgresql"
}

enum Colour {
  RED
  GREEN

  @@map("colour")
}

model Parent {
  id       Int     @id
  name     String  @unique
  children Child[]

  @@map("parent")
}

model Child {
  id       BigInt   @id @default(autoincrement())
  parentId Int      @map("parent_id")
  colour   Colour   @default(RED)
  weight   Decimal? @db.Decimal(12, 2)
  madeAt   DateTime @default(dbgenerated("made_at()")) @map("made_at") @db.Timestamptz(3)

  parent Parent @relation(fields: [parentId], references: [id], onDelete: Restrict)

  @@index([parentId, colour])
  @@map("child")
}
`;

/** A column default uses this function, so it must come before the tables. */
export const madeAt = `-- before tables
create or replace function made_at() returns timestamptz language sql as $$ select now() $$;
`;

/** This function uses a table's row type, so it must come after the tables. */
export const grow = `create or replace function grow(c child) returns numeric language plpgsql as $$
begin
  -- A semicolon; inside.
  return c.weight + 1;
end
$$;`;

/** Creates a folder for the current test that is like the project's own `prisma` but has no migrations. */
export async function prismaFolder() {
  const path = await mkdtemp(join(tmpdir(), 'payments-prisma-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const folder = {
    path,
    async write(file: string, content: string) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), content);
    },
  };
  await mkdir(join(path, 'migrations'));
  await folder.write('schema.prisma', smallSchema);
  await folder.write('functions/made_at.sql', madeAt);
  await folder.write('functions/grow.sql', grow);
  return folder;
}
