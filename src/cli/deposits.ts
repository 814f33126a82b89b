import type { Command } from 'commander';
import { formatForeign } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import {
  attributeDeposit,
  closeDeposit,
  type DecidedDeposit,
  listDeposits,
} from '../payments/providers/decide-deposits.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { nameIn, operatorOf, reasonIn } from './operator.ts';

interface Decision {
  readonly by: string;
  readonly reason: string;
}

/** Adds the commands about deposits at providers that nobody could be credited with. */
export function addDeposits(program: Command): void {
  const deposits = program
    .command('deposits')
    .description('money that has come in at a provider, and that waits for a person to say whose it is');
  deposits.command('list').description('list those that wait, the oldest first').action(withDatabase(list));
  decision(deposits, 'credit', 'say for which account it is: the workers credit it')
    .requiredOption('--to <account>', 'an internal account of its platform and currency: InternalAccount:…')
    .action(withDatabase(credit));
  decision(deposits, 'close', 'close one that is for no account here; it moves no money').action(withDatabase(close));
}

function decision(deposits: Command, name: string, description: string): Command {
  return deposits
    .command(name)
    .description(description)
    .argument('<deposit>', 'its id: Deposit:…')
    .requiredOption('--by <name>', 'who decides it', nameIn)
    .requiredOption('--reason <text>', 'why', reasonIn);
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
  return { data: rows, lines: tableOf(rows, 'No deposit waits for a person.') };
}

async function credit({ database }: Tools, id: string, given: Decision & { readonly to: string }): Promise<Answer> {
  const done = await attributeDeposit(database, id, given.to, operatorOf('deposits credit', given));
  return answerOf(done, { deposit: id, account: given.to }, `${id} is for ${given.to}. The workers credit it.`);
}

async function close({ database }: Tools, id: string, given: Decision): Promise<Answer> {
  const done = await closeDeposit(database, id, { ...operatorOf('deposits close', given), reason: given.reason });
  return answerOf(done, { closed: id }, `${id} is closed. Nothing has moved.`);
}

function answerOf(done: DecidedDeposit, data: object, line: string): Answer {
  if (done.kind === 'refused') throw new CommandError(done.reason);
  return { data, lines: [line] };
}
