import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatForeign } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import { attributeDeposit, closeDeposit, listDeposits } from '../domain/providers/decide-deposits.ts';
import { type Decided, decisionOf, operatorOf, type Tools, withDatabase } from './tools.ts';

export function addDeposits(program: Program): void {
  const deposits = program
    .command('deposits')
    .description('deposits at providers that the service cannot assign to an account');
  deposits
    .command('list')
    .description('list the deposits that await a decision, oldest first')
    .action(withDatabase(list));
  decision(deposits, 'credit', 'assign a deposit to an account; the workers credit it')
    .requiredOption('--to <account>', "an internal account of the deposit's platform and currency: InternalAccount:…")
    .action(withDatabase(credit));
  decision(deposits, 'close', 'close a deposit that belongs to no account of this installation; moves no money').action(
    withDatabase(close),
  );
}

function decision(deposits: Program, name: string, description: string): Program {
  return decisionOf(deposits.command(name)).description(description).argument('<deposit>', 'its id: Deposit:…');
}

async function list({ database }: Tools): Promise<Answer> {
  const rows = (await listDeposits(database)).map((one) => ({
    deposit: publicId('Deposit', one.id),
    platform: one.platform.name,
    amount: formatForeign(one.amount, one.currency),
    reason: one.reason,
    since: one.foundAt,
    reference: one.reference,
    payer: one.payer,
    memo: one.memo,
    account: one.accountId && publicId('InternalAccount', one.accountId),
  }));
  return listed(rows, 'No deposit awaits a decision.');
}

async function credit({ database }: Tools, id: string, said: Decided & { readonly to: string }): Promise<Answer> {
  await attributeDeposit(database, id, said.to, operatorOf('deposits credit', said));
  return { data: { deposit: id, account: said.to }, lines: [`${id} is for ${said.to}. The workers will credit it.`] };
}

async function close({ database }: Tools, id: string, said: Decided): Promise<Answer> {
  await closeDeposit(database, id, operatorOf('deposits close', said));
  return { data: { closed: id }, lines: [`${id} is closed. Nothing has moved.`] };
}
