import { Option } from 'commander';
import { Failure } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import type { Period } from '../core/checks.ts';
import { accountNameIn } from '../core/ids.ts';
import { platformItself } from '../domain/access/platform-itself.ts';
import { readStatementHead, statementEntries, statementWriter } from '../domain/statements/statement.ts';
import { periodOf, type Tools, withDatabase } from './tools.ts';

export function addStatement(program: Program): void {
  periodOf(program.command('statement'))
    .description('write the entries of an internal account for a period, with balances, to standard output')
    .argument('<account>', 'its id: InternalAccount:…')
    .addOption(new Option('--format <format>', 'CSV, or ISO 20022').choices(['csv', 'camt.053']).default('csv'))
    .action(withDatabase(write));
}

interface Options extends Period {
  readonly format: 'csv' | 'camt.053';
}

async function write({ database, screen, json }: Tools, accountId: string, { from, to, format }: Options) {
  const id = accountNameIn(accountId)?.id;
  const account = id && (await database.prisma.account.findFirst({ where: { id }, include: { platform: true } }));
  if (!account) throw new Failure(`There is no ${accountId}.`);
  const { platformId, platform } = account;
  const caller = platformItself({ platformId, environment: platform.environment });
  const head = await readStatementHead(database, caller, accountId, { from, to });
  const chunks = statementEntries(database, caller, head);
  if (json) {
    const entries = [];
    for await (const chunk of chunks) entries.push(...chunk);
    return { data: { ...head, entries } };
  }
  const write = statementWriter(format, head);
  for await (const text of write(head, { from, to }, chunks)) await screen.write(text);
  return {};
}
