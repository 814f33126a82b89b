import type { Answer } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { type Freezing, type Frozen, freezeAccount, freezeCustomer } from '../domain/commands/freezing.ts';
import { type Decided, decisionOf, type Tools, withDatabase } from './tools.ts';

type Freeze = (database: Tools['database'], id: string, freezing: Freezing) => Promise<Frozen>;

export function addFreezing(program: Program): void {
  const customer = program.command('customer').description('stop payments from and to a customer');
  addBoth(customer, 'a customer, with all its accounts', ['<customer>', 'its id: Customer:…'], freezeCustomer);
  const account = program.command('account').description('stop payments from and to an account');
  const argument = ['<account>', 'the id of the account: InternalAccount:… or ExternalAccount:…'] as const;
  addBoth(account, 'an account alone', argument, freezeAccount);
}

function addBoth(noun: Program, what: string, argument: readonly [string, string], freeze: Freeze): void {
  const command = (name: string, description: string, frozen: boolean) =>
    decisionOf(noun.command(name))
      .description(description)
      .argument(...argument)
      .action(
        withDatabase(({ database }: Tools, id: string, { by, reason }: Decided) =>
          run(id, frozen, freeze(database, id, { by, reason, frozen })),
        ),
      );
  command('freeze', `freeze ${what}: new payments from and to it are refused; payments in progress continue`, true);
  command('thaw', `unfreeze ${what}`, false);
}

async function run(id: string, frozen: boolean, work: Promise<Frozen>): Promise<Answer> {
  const { changed, since } = await work;
  const frozenAt = frozen ? since : null;
  const state = frozen ? `has been frozen since ${since?.toISOString()}` : 'is not frozen';
  return { data: { id, frozenAt, changed }, lines: [`${changed ? '' : 'Nothing done: '}${id} ${state}.`] };
}
