import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Command, CommanderError } from 'commander';
import { buildSchema } from 'graphql';
import { findBreakage, type UsedDocument, usersOf } from '../documents/schema-users.ts';
import { printedSchema, schema } from '../graphql/server/schema.ts';
import { CommandError } from '../print-error.ts';
import type { Answer } from './answer.ts';
import { actionOf, answered, withDatabase } from './command-line.ts';
import { readExportedUses, readUses } from './documents.ts';

const file = new URL('../../schema.graphql', import.meta.url);

interface Options {
  readonly check?: true;
  readonly whoUses?: string;
  readonly breaks?: string;
  readonly uses?: string;
}

/**
 * Runs the command line of the schema: prints it, or tells who uses what.
 * @returns the exit code: 1 when schema.graphql is stale, or the schema breaks what clients send
 */
export async function runSchemaCommand(args: readonly string[]): Promise<number> {
  const program = new Command('npm run schema --')
    .description('Writes schema.graphql, or says who would notice a change of it.')
    .option('--check', 'say whether schema.graphql is what the code prints')
    .option(
      '--who-uses <coordinate>',
      'name the documents and clients that use Type, Type.field, Type.field(argument:) or Enum.VALUE',
    )
    .option(
      '--breaks <revision>',
      'compare with the schema.graphql of a git revision, or with a file, and name who breaks',
    )
    .option('--uses <file>', 'take the uses from a file of npm run ops -- documents --json, and not from the database')
    .option('--json', 'print the answer as JSON')
    .exitOverride()
    .action(async (options: Options, command: Command) => {
      if (options.whoUses === undefined && options.breaks === undefined) return writeOrCheck(options);
      const { uses } = options;
      const action: (options: Options, command: Command) => Promise<void> =
        uses === undefined
          ? withDatabase<[Options]>(async ({ database }, given) => tell(given, await readUses(database)))
          : actionOf<[Options]>(async (given) => tell(given, await readExportedUses(uses)));
      await action(options, command);
    });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === answered || error.exitCode === 0 ? error.exitCode : 2;
  }
}

async function writeOrCheck({ check }: Options): Promise<void> {
  const printed = printedSchema();
  if (!check) return writeFile(file, printed);
  if ((await readFile(file, 'utf8')) === printed) return;
  console.error('schema.graphql is stale: run `npm run schema` and commit it');
  throw new CommanderError(1, answered, '');
}

async function tell({ whoUses, breaks = '' }: Options, documents: readonly UsedDocument[]): Promise<Answer> {
  if (whoUses !== undefined) {
    const users = usersOf(schema, whoUses, documents);
    return { data: users, lines: users.length > 0 ? users.flatMap(linesOf) : [`No client has sent ${whoUses}.`] };
  }
  const breakage = findBreakage(buildSchema(await readRevision(breaks)), schema, documents);
  const { changes, broken } = breakage;
  return {
    data: breakage,
    lines: [
      changes.length === 0 ? `Nothing breaks since ${breaks}.` : `Breaking changes since ${breaks}:`,
      ...changes.map((change) => `  ${change}`),
      ...(changes.length > 0 && broken.length === 0 ? ['', 'No document that clients have sent breaks.'] : []),
      ...broken.flatMap((document) => ['', ...document.reasons.map((reason) => `✗ ${reason}`), ...linesOf(document)]),
    ],
    exitCode: broken.length > 0 ? 1 : 0,
  };
}

function linesOf({ text, users }: UsedDocument): string[] {
  return [
    text,
    ...users.map(({ platform, client, uses, lastUsedAt }) => {
      const name = client === '' ? 'a client that does not say its name' : client;
      return `  ${platform}, ${name}: ${uses} times, last ${lastUsedAt.toISOString()}`;
    }),
  ];
}

/**
 * Reads the schema of a file, or of a git revision.
 * @throws CommandError where there is neither
 */
async function readRevision(revision: string): Promise<string> {
  if (existsSync(revision)) return readFile(revision, 'utf8');
  const { stdout } = await promisify(execFile)('git', ['show', `${revision}:schema.graphql`], {
    maxBuffer: 2 ** 26,
  }).catch(() => {
    throw new CommandError(`There is no file ${revision}, and no git revision with a schema.graphql.`);
  });
  return stdout;
}
