import { type Command, InvalidArgumentError, Option } from 'commander';
import { platformItself } from '../access/platform-itself.ts';
import { parseTimestamp } from '../core/checks.ts';
import { accountNameIn } from '../core/ids.ts';
import { checkCamtCurrency, statementCamt } from '../payments/statements/camt053.ts';
import { statementCsv } from '../payments/statements/csv.ts';
import { readStatementHead, statementEntries } from '../payments/statements/statement.ts';
import { CommandError } from '../print-error.ts';
import type { Answer } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the command that writes the statement of an account. */
export function addStatement(program: Command): void {
  program
    .command('statement')
    .description('write the entries of an internal account in a period, with the balances, to the standard output')
    .argument('<account>', 'its id: InternalAccount:…')
    .requiredOption('--from <time>', 'where the period begins, such as 2026-01-01T00:00:00Z', momentIn)
    .requiredOption('--to <time>', 'where it ends; this moment does not belong to it', momentIn)
    .addOption(new Option('--format <format>', 'CSV, or ISO 20022').choices(['csv', 'camt.053']).default('csv'))
    .action(withDatabase(write));
}

/**
 * Reads a moment in an argument.
 * @throws InvalidArgumentError
 */
export function momentIn(text: string): Date {
  const moment = parseTimestamp(text);
  if (!moment) throw new InvalidArgumentError(`${text} is no time with a time zone.`);
  return moment;
}

interface Options {
  readonly from: Date;
  readonly to: Date;
  readonly format: 'csv' | 'camt.053';
  readonly json?: true;
}

async function write(
  { database, print }: Tools,
  accountId: string,
  { from, to, format, json }: Options,
): Promise<Answer> {
  const id = accountNameIn(accountId)?.id;
  const account = id && (await database.prisma.account.findFirst({ where: { id }, include: { platform: true } }));
  if (!account) throw new CommandError(`There is no ${accountId}.`);
  const { platformId, platform } = account;
  const caller = platformItself({ platformId, environment: platform.environment });
  const head = await readStatementHead(database, caller, accountId, { from, to });
  const chunks = statementEntries(database, caller, head);
  if (json) {
    const entries = [];
    for await (const chunk of chunks) entries.push(...chunk);
    return { data: { ...head, entries }, lines: [] };
  }
  if (format === 'camt.053') checkCamtCurrency(head.currency);
  const writer = format === 'csv' ? statementCsv : statementCamt;
  for await (const text of writer(head, { from, to }, chunks)) await print(text);
  return { data: null, lines: [] };
}
