import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import {
  buildASTSchema,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  findBreakingChanges,
  GraphQLDeprecatedDirective,
  GraphQLSchema,
  getDirectiveValues,
  type InputValueDefinitionNode,
  isObjectType,
  parse,
  visit,
} from 'graphql';
import type { z } from 'zod';
import { printedSchema, schema } from '../api/graphql/server/schema.ts';
import { type Answer, Failure } from '../apps/terminal/answer.ts';
import { actionOf, type Job, type Program } from '../apps/terminal/program.ts';
import { accountExamples } from '../core/account-examples.ts';
import type { AccountDetails } from '../core/account-fields.ts';
import { type AccountType, accountTypes } from '../core/account-types.ts';
import { invalidFieldsOf, Refusal } from '../core/refusal.ts';
import { checkAccountInfo } from '../domain/accounts/account-details.ts';
import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import { secretSettings } from '../server/config.ts';
import { settings } from '../server/settings.ts';
import { formatSetting } from './installation.ts';

/** The files that `npm run schema` writes, keyed by path. */
const printed = { 'schema.graphql': printedSchema, 'docs/settings.md': settingsPage, 'docs/accounts.md': accountsPage };

export function addSchema(program: Program): void {
  program
    .command('schema')
    .description(
      'write schema.graphql, docs/settings.md and docs/accounts.md from the code, or list the breaking changes to the schema',
    )
    .option('--check', 'check whether these files are up to date')
    .option(
      '--breaks <revision>',
      'list the breaking changes compared with a file, or with the schema.graphql of a git revision; elements deprecated there at least six months ago may be removed',
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
    const before = await readFile(file, 'utf8');
    if (!check) await writeFile(file, print(before));
    else if (before !== print(before)) throw new Failure(`${place} is stale: run \`npm run schema\` and commit it`);
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
    throw new Failure(`${revision} is neither a file nor a git revision with a schema.graphql.`);
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

Settings are environment variables. The service reads them once, at startup. It refuses to start with an invalid setting, and the message names the setting. An empty value counts as not set. Settings that contain a secret (${secrets}) can also be read from files: for example, \`SECRET_KEY_FILE\` is the path of a file that contains \`SECRET_KEY\`.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

/** Returns a setting's default as shown on the page. A default that depends on other settings is described in words. */
function shownDefault(setting: z.ZodType): string {
  const { shownDefault } = setting.meta() ?? {};
  if (typeof shownDefault === 'string') return shownDefault;
  const text = formatSetting(setting.safeParse(undefined).data);
  return text ? `\`${text}\`` : '';
}

/** Generates the sections of docs/accounts.md from the declared account types and their examples. */
function accountsPage(page: string): string {
  const kinds = Object.entries(accountTypes) as [ExternalAccountType, AccountType][];
  return `${page.slice(0, page.indexOf('## '))}${kinds.map(([name, type]) => section(name, type)).join('\n')}`;
}

function section(name: ExternalAccountType, type: AccountType): string {
  const code = (names: readonly string[]) => names.map((one) => `\`${one}\``);
  const { bank = [], identifier, fields, currencies, description } = type;
  const either = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(code(identifier));
  const identity = new Intl.ListFormat('en-GB').format([...code(bank), either]);
  const rows = Object.entries(fields).map(([field, rule]) => {
    const forms = Object.entries(rule.formBy?.forms ?? {}).map(([value, { form }]) => `${value}: ${form}`);
    const taken = forms.length > 0 ? forms.join('; ') : rule.form;
    return `| \`${field}\` | ${rule.description}${rule.optional ? ' Optional.' : ''} | ${taken} | ${rule.differIn ?? ''} |`;
  });
  const { taken, refused } = accountExamples[name];
  return `## ${name}

${description} Currency: ${currencies.join(' or ')}. ${type.beneficiary ? 'It has an owner' : 'It has no owner'}, and is identified by its ${identity}.

| Field | Meaning | Accepted | Ignored differences |
|---|---|---|---|
${rows.join('\n')}

| Example | Stored spelling, or why PRODUCTION refuses it |
|---|---|
${[...taken, ...refused].map((details) => `| ${shown(details)} | ${outcome(name, type, details)} |`).join('\n')}
`;
}

function shown(details: AccountDetails): string {
  const values = Object.values(details).filter((value) => value !== null && value !== undefined);
  const shortened = values.map((value) => (value.length > 64 ? `${value.slice(0, 61)}…` : value));
  return shortened.map((value) => `\`${value.replaceAll('\n', '↵')}\``).join(', ');
}

function outcome(accountType: ExternalAccountType, { currencies }: AccountType, details: AccountDetails): string {
  try {
    return shown(checkAccountInfo({ accountType, details, currency: currencies[0] }, 'PRODUCTION', new Date()).info);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return invalidFieldsOf(error)
      .map(({ path, message }) => `\`${path.at(-1)}\`: ${message}`)
      .join('; ');
  }
}

/** The minimum number of months for which a deprecated element is kept (docs/compatibility.md). */
const months = 6;

type Deprecable = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

const isDeprecated = (element: Deprecable) => getDirectiveValues(GraphQLDeprecatedDirective, element) !== undefined;

/** Returns the date in a deprecation reason, such as "Use customer. Since 2027-03-01." */
function sinceOf(element: Deprecable): Date | undefined {
  const { reason } = getDirectiveValues(GraphQLDeprecatedDirective, element) ?? {};
  const [, day] = /\bSince (\d{4}-\d{2}-\d{2})\.$/.exec(String(reason)) ?? [];
  return day === undefined ? undefined : new Date(day);
}

/** Returns the names of deprecated elements whose reason contains no date. */
export function undatedDeprecations(schema: DocumentNode): string[] {
  const undated: string[] = [];
  const look = (element: Deprecable) => {
    if (isDeprecated(element) && sinceOf(element) === undefined) undated.push(element.name.value);
  };
  visit(schema, { FieldDefinition: look, InputValueDefinition: look, EnumValueDefinition: look });
  return undated;
}

/** Returns an earlier schema without elements deprecated long ago, and without types reachable only through them. */
export function lasting(earlier: DocumentNode, now: Date): GraphQLSchema {
  const remove = (element: Deprecable) => {
    const since = sinceOf(element);
    since?.setUTCMonth(since.getUTCMonth() + months);
    return since && since <= now ? null : undefined;
  };
  const rest = buildASTSchema(
    visit(earlier, { FieldDefinition: remove, InputValueDefinition: remove, EnumValueDefinition: remove }),
  );
  // GraphQLSchema finds only types reachable from its roots. Objects reachable only through interfaces must be listed.
  const types = Object.values(rest.getTypeMap()).filter(
    (type) => isObjectType(type) && type.getInterfaces().length > 0,
  );
  return new GraphQLSchema({ ...rest.toConfig(), types });
}
