import { InvalidArgumentError, Option } from 'commander';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import type { Period } from '../core/checks.ts';
import { formatMajor, isCurrencyCode, requiredCurrency, smallestUnits } from '../core/currencies.ts';
import { accountNameIn, publicId } from '../core/ids.ts';
import { platformItself } from '../domain/access/platform-itself.ts';
import {
  type Adjustment,
  approveAdjustment,
  freezeAccount,
  freezeCustomer,
  listAdjustments,
  proposeAdjustment,
  rejectAdjustment,
} from '../domain/commands/adjustments.ts';
import { readStatementHead, statementEntries, statementWriter } from '../domain/statements/statement.ts';
import { addCommand, addDecision, type Deciding, periodOf, type Tools } from './tools.ts';

export function addFreezing(program: Program): void {
  const customer = program.command('customer').description('stop payments from and to a customer');
  addFreezeAndThaw(customer, 'a customer, with all its accounts', ['<customer>', 'its id: Customer:…'], freezeCustomer);
  const account = program.command('account').description('stop payments from and to an account');
  const argument = ['<account>', 'its id: InternalAccount:… or ExternalAccount:…'] as const;
  addFreezeAndThaw(account, 'a single account', argument, freezeAccount);
}

function addFreezeAndThaw(
  noun: Program,
  what: string,
  argument: readonly [string, string],
  freeze: typeof freezeAccount,
): void {
  const command = (name: string, description: string, frozen: boolean) =>
    addDecision(noun, name, ({ database, operator: { by, reason } }, id: string) =>
      answerOfFreezing(id, frozen, freeze(database, id, { by, reason, frozen })),
    )
      .description(description)
      .argument(...argument);
  command('freeze', `freeze ${what}: new payments from and to it are refused; payments in progress continue`, true);
  command('thaw', `unfreeze ${what}`, false);
}

async function answerOfFreezing(id: string, frozen: boolean, work: ReturnType<typeof freezeAccount>): Promise<Answer> {
  const { changed, since } = await work;
  const frozenAt = frozen ? since : null;
  const state = frozen ? `has been frozen since ${since?.toISOString()}` : 'is not frozen';
  return { data: { id, frozenAt, changed }, lines: [`${changed ? '' : 'Nothing done: '}${id} ${state}.`] };
}

export function addAdjustments(program: Program): void {
  const adjust = program
    .command('adjust')
    .description('correct an account balance: one person proposes, another approves');
  addCommand(adjust, 'list', listProposals)
    .description('list the adjustments that await a decision, latest first')
    .option('--all', 'include those that have been decided or have expired');
  addDecision(adjust, 'propose', proposeCorrection)
    .description('propose a correction, which moves money only if another person approves it within seven days')
    .argument('<account>', 'the account: InternalAccount:…')
    .requiredOption('--currency <code>', "the account's currency, such as USD", currencyIn)
    .addOption(new Option('--credit <amount>', 'the amount to add, such as 12.50').conflicts('debit'))
    .option('--debit <amount>', 'the amount to deduct');
  const end = (name: string, description: string, decide: typeof approveAdjustment) =>
    addDecision(adjust, name, async ({ database, operator }, id: string) =>
      answerOfAdjustment(await decide(database, id, operator)),
    )
      .description(description)
      .argument('<adjustment>', 'its id: Adjustment:…');
  const approve = 'approve a proposal, which moves the money; must be done by someone other than its proposer';
  end('approve', approve, approveAdjustment);
  end('reject', 'reject a proposal, so that no money moves', rejectAdjustment);
}

function currencyIn(text: string): string {
  if (!isCurrencyCode(text)) throw new InvalidArgumentError(`Unknown currency ${text}.`);
  return text;
}

async function proposeCorrection(
  { database, operator }: Deciding,
  accountId: string,
  { currency, credit, debit }: { readonly currency: string; readonly credit?: string; readonly debit?: string },
) {
  const decimal = credit ?? debit;
  if (decimal === undefined) throw new InvalidArgumentError('Give the amount: --credit or --debit.');
  const sum = smallestUnits({ decimal }, requiredCurrency(currency), []);
  const adjustment = { accountId, currency, amount: credit === undefined ? -sum : sum };
  return answerOfAdjustment(await proposeAdjustment(database, adjustment, operator));
}

async function listProposals({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
  const rows = (await listAdjustments(database, { all })).map(adjustmentRow);
  return listed(rows, all ? 'There is no adjustment.' : 'No adjustment awaits a decision.');
}

function answerOfAdjustment(adjusted: Adjustment): Answer {
  const row = adjustmentRow(adjusted);
  const { adjustment, amount, account, status, expiresAt } = row;
  const moved = status === 'APPROVED' ? 'The money has moved.' : 'Nothing has moved.';
  const until = status === 'PROPOSED' ? ` Another person can approve it until ${expiresAt.toISOString()}.` : '';
  return { data: row, lines: [`${adjustment} (${amount} on ${account}) is ${status}. ${moved}${until}`] };
}

function adjustmentRow(one: Adjustment) {
  return {
    adjustment: publicId('Adjustment', one.id),
    status: one.status,
    account: publicId('InternalAccount', one.accountId),
    amount: formatMajor(one.amount, requiredCurrency(one.currency)),
    platform: one.account.platform.name,
    proposedBy: one.proposedBy,
    proposedAt: one.proposedAt,
    expiresAt: one.expiresAt,
    decidedBy: one.decidedBy,
    decidedAt: one.decidedAt,
    reason: one.reason,
  };
}

export function addStatement(program: Program): void {
  periodOf(
    addCommand(program, 'statement', writeStatement).description(
      'print the statement of an internal account for a period: its entries and balances',
    ),
  )
    .argument('<account>', 'its id: InternalAccount:…')
    .addOption(new Option('--format <format>', 'CSV, or ISO 20022').choices(['csv', 'camt.053']).default('csv'));
}

interface Options extends Period {
  readonly format: 'csv' | 'camt.053';
}

async function writeStatement({ database, screen, json }: Tools, accountId: string, { from, to, format }: Options) {
  const id = accountNameIn(accountId)?.id;
  const account = id && (await database.prisma.account.findFirst({ where: { id }, include: { platform: true } }));
  if (!account) throw new Failure(`There is no ${accountId}.`);
  const { platformId, platform } = account;
  const caller = platformItself({ platformId, environment: platform.environment });
  const head = await readStatementHead(database, caller, accountId, { from, to });
  const chunks = statementEntries(database, caller, head);
  if (json) return { data: { ...head, entries: (await Array.fromAsync(chunks)).flat() } };
  const write = statementWriter(format, head);
  for await (const text of write(head, { from, to }, chunks)) await screen.write(text);
  return {};
}
