import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import type { DocumentUser, UsedDocument } from '../documents/schema-users.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the command that shows which documents clients send. */
export function addDocuments(program: Command): void {
  program
    .command('documents')
    .description('show which documents clients send; with --json in the form that npm run schema takes')
    .action(withDatabase(list));
}

async function list({ database }: Tools): Promise<Answer> {
  const documents = await readUses(database);
  const rows = documents.flatMap(({ text, users }) =>
    users.map((user) => ({ ...user, document: text.length > 80 ? `${text.slice(0, 79)}…` : text })),
  );
  return { data: documents, lines: tableOf(rows, 'No document has been sent yet.') };
}

/** Reads which documents the clients of all platforms have sent. */
export async function readUses(database: Database): Promise<readonly UsedDocument[]> {
  const rows = await database.prisma.documentUse.findMany({
    include: { platform: { select: { name: true } } },
    orderBy: { lastUsedAt: 'desc' },
  });
  const users = Map.groupBy(rows, ({ text }) => text);
  return [...users].map(([text, uses]) => ({
    text,
    users: uses.map(
      (use): DocumentUser => ({
        platform: use.platform.name,
        client: `${use.clientName} ${use.clientVersion}`.trim(),
        uses: Number(use.uses),
        lastUsedAt: use.lastUsedAt,
      }),
    ),
  }));
}

const exported = z.array(
  z.object({
    text: z.string(),
    users: z.array(
      z.object({ platform: z.string(), client: z.string(), uses: z.number(), lastUsedAt: z.coerce.date() }),
    ),
  }),
);

/**
 * Reads what `npm run ops -- documents --json` has printed.
 * @throws CommandError where a file has something else
 */
export async function readExportedUses(file: string): Promise<readonly UsedDocument[]> {
  const parsed = exported.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!parsed.success) throw new CommandError(`${file} is not what npm run ops -- documents --json prints.`);
  return parsed.data;
}
