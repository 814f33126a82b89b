import type { Command } from 'commander';
import { type Freezing, type Frozen, freezeAccount, freezeCustomer } from '../payments/freezing.ts';
import { CommandError } from '../print-error.ts';
import type { Answer } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { nameIn, reasonIn } from './operator.ts';

type Freeze = (database: Tools['database'], id: string, freezing: Freezing) => Promise<Frozen>;

/** Adds the commands that freeze and thaw a customer or an account. */
export function addFreezing(program: Command): void {
  const customer = program.command('customer').description('stop a customer from paying and being paid');
  addBoth(customer, 'a customer, with all its accounts', ['<customer>', 'its id: Customer:…'], freezeCustomer);
  const account = program.command('account').description('stop an account from paying and being paid');
  const argument = ['<account>', 'its id: InternalAccount:… or ExternalAccount:…'] as const;
  addBoth(account, 'an account alone', argument, freezeAccount);
}

function addBoth(noun: Command, what: string, argument: readonly [string, string], freeze: Freeze): void {
  const command = (name: string, description: string, frozen: boolean) =>
    noun
      .command(name)
      .description(description)
      .argument(...argument)
      .requiredOption('--reason <text>', 'why', reasonIn)
      .requiredOption('--by <name>', 'who decided it', nameIn)
      .action(
        withDatabase(({ database }: Tools, id: string, { by, reason }: { by: string; reason: string }) =>
          run(id, frozen, freeze(database, id, { by, reason, frozen })),
        ),
      );
  command('freeze', `freeze ${what}: new payments from it and to it are refused, and what is under way ends`, true);
  command('thaw', `thaw ${what}: all is as it was before`, false);
}

async function run(id: string, frozen: boolean, work: Promise<Frozen>): Promise<Answer> {
  const done = await work;
  if (done.kind === 'refused') throw new CommandError(done.reason);
  const changed = done.kind === 'changed';
  const frozenAt = frozen ? done.since : null;
  const state = frozen ? `is frozen since ${done.since?.toISOString()}` : 'is not frozen';
  return { data: { id, frozenAt, changed }, lines: [`${changed ? '' : 'Nothing done: '}${id} ${state}.`] };
}
