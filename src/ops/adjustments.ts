import { InvalidArgumentError, Option } from 'commander';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatMajor, isCurrencyCode, requiredCurrency, smallestUnits } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import {
  type Adjustment,
  approveAdjustment,
  listAdjustments,
  proposeAdjustment,
  rejectAdjustment,
} from '../domain/commands/adjustments.ts';
import { type Decided, decisionOf, operatorOf, type Tools, withDatabase } from './tools.ts';

export function addAdjustments(program: Program): void {
  const adjust = program
    .command('adjust')
    .description('correct the balance of an account: one person proposes, another approves');
  adjust
    .command('list')
    .description('list the adjustments that await a decision, latest first')
    .option('--all', 'include those that have been decided or have expired')
    .action(withDatabase(list));
  decisionOf(adjust.command('propose'))
    .description('propose a correction; it moves nothing until another person approves it, within seven days')
    .argument('<account>', 'the account: InternalAccount:…')
    .requiredOption('--currency <code>', 'the currency of the account, such as USD', currencyIn)
    .addOption(new Option('--credit <amount>', 'the amount to add, such as 12.50').conflicts('debit'))
    .option('--debit <amount>', 'the amount to deduct')
    .action(withDatabase(propose));
  decision(
    adjust,
    'approve',
    'move the money of a proposal; must be done by someone other than the person who proposed it',
    approveAdjustment,
  );
  decision(adjust, 'reject', 'end a proposal; it moves nothing', rejectAdjustment);
}

function decision(adjust: Program, name: string, description: string, decide: typeof approveAdjustment): void {
  decisionOf(adjust.command(name))
    .description(description)
    .argument('<adjustment>', 'its id: Adjustment:…')
    .action(
      withDatabase(async ({ database }: Tools, id: string, said: Decided) =>
        answerOf(await decide(database, id, operatorOf(`adjust ${name}`, said))),
      ),
    );
}

function currencyIn(text: string): string {
  if (!isCurrencyCode(text)) throw new InvalidArgumentError(`Unknown currency ${text}.`);
  return text;
}

interface Propose extends Decided {
  readonly currency: string;
  readonly credit?: string;
  readonly debit?: string;
}

async function propose({ database }: Tools, accountId: string, given: Propose): Promise<Answer> {
  const { currency, credit, debit } = given;
  const decimal = credit ?? debit;
  if (decimal === undefined) throw new InvalidArgumentError('Give the amount: --credit or --debit.');
  const sum = smallestUnits({ decimal }, requiredCurrency(currency), []);
  const adjustment = { accountId, currency, amount: credit === undefined ? -sum : sum };
  return answerOf(await proposeAdjustment(database, adjustment, operatorOf('adjust propose', given)));
}

async function list({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
  const rows = (await listAdjustments(database, { all })).map(rowOf);
  return listed(rows, all ? 'There is no adjustment.' : 'No adjustment awaits a decision.');
}

function answerOf(adjusted: Adjustment): Answer {
  const row = rowOf(adjusted);
  const { adjustment, amount, account, status, expiresAt } = row;
  const moved = status === 'APPROVED' ? 'The money has moved.' : 'Nothing has moved.';
  const until = status === 'PROPOSED' ? ` Another person can approve it until ${expiresAt.toISOString()}.` : '';
  return { data: row, lines: [`${adjustment} (${amount} on ${account}) is ${status}. ${moved}${until}`] };
}

function rowOf(one: Adjustment) {
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
