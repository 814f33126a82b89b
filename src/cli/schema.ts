import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Command, CommanderError } from 'commander';
import { buildSchema, findBreakingChanges } from 'graphql';
import { printedSchema, schema } from '../graphql/server/schema.ts';
import { CommandError } from '../print-error.ts';
import { settingsPage } from '../start/settings-page.ts';
import { actionOf, answered } from './command-line.ts';

/** What `npm run schema` writes, by its place in the project. */
const printed = { 'schema.graphql': printedSchema, 'docs/settings.md': settingsPage };

interface Options {
  readonly check?: true;
  readonly breaks?: string;
}

/**
 * Runs the command line of the schema: prints it, or compares it with an earlier one.
 * @returns the exit code: 1 when a file is stale, or the schema breaks clients of the earlier one
 */
export async function runSchemaCommand(args: readonly string[]): Promise<number> {
  const program = new Command('npm run schema --')
    .description('Writes schema.graphql and docs/settings.md, or lists what a change of the schema breaks.')
    .option('--check', 'say whether both are what the code prints')
    .option(
      '--breaks <revision>',
      'list the breaking changes since the schema.graphql of a git revision, or since a file',
    )
    .option('--json', 'print the answer as JSON')
    .exitOverride()
    .action(async (options: Options, command: Command) => {
      const { breaks } = options;
      if (breaks === undefined) return writeOrCheck(options);
      await actionOf<[Options]>(() => listBreakingChanges(breaks))(options, command);
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
  for (const [place, print] of Object.entries(printed)) {
    const file = new URL(`../../${place}`, import.meta.url);
    if (!check) await writeFile(file, print());
    else if ((await readFile(file, 'utf8')) !== print()) {
      console.error(`${place} is stale: run \`npm run schema\` and commit it`);
      throw new CommanderError(1, answered, '');
    }
  }
}

async function listBreakingChanges(revision: string) {
  const changes = findBreakingChanges(buildSchema(await readRevision(revision)), schema);
  const lines = changes.map(({ description }) => description);
  return {
    data: changes,
    lines: lines.length === 0 ? [`Nothing breaks since ${revision}.`] : lines,
    exitCode: lines.length === 0 ? 0 : 1,
  };
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
