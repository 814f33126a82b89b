import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findBreakingChanges, parse } from 'graphql';
import type { z } from 'zod';
import { printedSchema, schema } from '../api/graphql/server/schema.ts';
import { type Answer, Failure } from '../apps/terminal/answer.ts';
import { actionOf, type Job, type Program } from '../apps/terminal/program.ts';
import type { Rate } from '../domain/access/rates.ts';
import { secretSettings } from '../server/config.ts';
import { settings } from '../server/settings.ts';
import { accountsPage } from './accounts-page.ts';
import { lasting, undatedDeprecations } from './deprecations.ts';

/** The files that `npm run schema` writes, by path in the project. */
const printed = { 'schema.graphql': printedSchema, 'docs/settings.md': settingsPage, 'docs/accounts.md': accountsPage };

export function addSchema(program: Program): void {
  program
    .command('schema')
    .description(
      'write schema.graphql, docs/settings.md and docs/accounts.md from the code, or list the breaking changes of the schema',
    )
    .option('--check', 'check whether they are up to date')
    .option(
      '--breaks <revision>',
      'list the breaking changes since the schema.graphql of a git revision, or since a file; elements that were deprecated there for six months may be removed',
    )
    .action(actionOf(run));
}

async function run(_job: Job, { check, breaks }: { readonly check?: true; readonly breaks?: string }): Promise<Answer> {
  if (breaks !== undefined) return listBreakingChanges(breaks);
  const undated = undatedDeprecations(parse(printedSchema()));
  if (undated.length > 0)
    throw new Failure(
      `${undated.join(', ')}: the deprecation reason must end with its date, such as "Since 2027-03-01."`,
    );
  for (const [place, print] of Object.entries(printed)) {
    const file = new URL(`../../${place}`, import.meta.url);
    if (!check) await writeFile(file, print());
    else if ((await readFile(file, 'utf8')) !== print())
      throw new Failure(`${place} is stale: run \`npm run schema\` and commit it`);
  }
  return {};
}

async function listBreakingChanges(revision: string): Promise<Answer> {
  const changes = findBreakingChanges(lasting(parse(await readRevision(revision)), new Date()), schema);
  const lines = changes.map(({ description }) => description);
  return {
    data: changes,
    lines: lines.length === 0 ? [`No breaking changes since ${revision}.`] : lines,
    exitCode: lines.length === 0 ? 0 : 1,
  };
}

/** Reads the schema from a file or a git revision. @throws Failure */
async function readRevision(revision: string): Promise<string> {
  if (existsSync(revision)) return readFile(revision, 'utf8');
  const { stdout } = await promisify(execFile)('git', ['show', `${revision}:schema.graphql`], {
    maxBuffer: 2 ** 26,
  }).catch(() => {
    throw new Failure(`There is no file ${revision}, and no git revision with a schema.graphql.`);
  });
  return stdout;
}

/** Generates docs/settings.md from the declaration of the settings. */
function settingsPage(): string {
  const secrets = secretSettings.map((name) => `\`${name}\``).join(', ');
  const rows = Object.entries(settings).map(
    ([name, setting]: [string, z.ZodType]) =>
      `| \`${name}\` | ${shownDefault(setting)} | ${setting.meta()?.description} |`,
  );
  return `# Settings

This page is generated from \`src/server/settings.ts\` (\`npm run schema\`).

Settings are environment variables. The service reads them once, at startup. It refuses to start with an invalid setting, and the message names the setting. An empty value counts as not set. Settings that contain a secret (${secrets}) can also be read from files: \`SECRET_KEY_FILE=/run/secrets/key\` names the file with \`SECRET_KEY\`.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

/** Returns a setting's default for readers. If it depends on other settings, the declaration describes it. */
function shownDefault(setting: z.ZodType): string {
  const { shownDefault } = setting.meta() ?? {};
  if (typeof shownDefault === 'string') return shownDefault;
  const value = setting.safeParse(undefined).data;
  const text = value === undefined ? '' : typeof value === 'boolean' ? (value ? 'on' : 'off') : textOf(value);
  return text === '' ? '' : `\`${text}\``;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return String(value);
  const { perSecond, burst } = value as Rate;
  return `${perSecond}/${burst}`;
}
