import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import { actionOf, type Job, type Program } from '../apps/terminal/program.ts';
import type { Period } from '../core/checks.ts';
import { publicId } from '../core/ids.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { connectedRail } from '../domain/commands/command.ts';
import { runReconciliation } from '../domain/reconciliation/reconciliation.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { runConformance } from '../rails/conformance/run.ts';
import type { RailTrial } from '../rails/conformance/trial.ts';
import { railAddress } from '../rails/load-rails.ts';
import { openConnections } from '../server/gateway.ts';
import { strangeKey } from '../server/start/keys-in-use.ts';
import { platformNamed } from './platforms.ts';
import { actOf, operatorOf, periodOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addRails(program: Program): void {
  const rails = program.command('rails').description("the platforms' connections to the providers of their rails");
  actOf(rails.command('connect'))
    .description(
      'store a platform\'s connection to its provider, encrypted, from standard input: for the upstream rail {"baseUrl": …, "clientId": …, "secret": …, "webhookSecret": …}. Instances use it immediately',
    )
    .argument('<platform>', 'the name of the platform')
    .action(withDatabase(connect));
  rails
    .command('check')
    .description("test a platform's connection; moves no money")
    .argument('<platform>', 'the name of the platform')
    .action(withDatabase(check));
  periodOf(actOf(rails.command('reconcile')))
    .description(
      "compare the orders of a period, and the current balances, with the provider's. Every difference is printed with both sides and stored; none is corrected",
    )
    .argument('<platform>', 'the name of the platform')
    .action(withDatabase(compare));
  rails
    .command('try')
    .description(
      'run the conformance suite on a rail: the provider settles, refuses, loses an answer, gets an order twice, contradicts itself, is slow or down, and the rail is killed in between',
    )
    .argument('<module>', 'a package or a file, such as ./my-rail.ts, that exports its "trial" (src/rails/README.md)')
    .action(actionOf(tryRail));
}

/** Prints all differences, and exits with 1 if there are any. */
async function compare({ database, payments }: Tools, name: string, { from, to, ...said }: Period & Said) {
  if (from >= to) throw new InvalidArgumentError('The period must not end before it begins.');
  const tenant = await platformNamed(database, name);
  const { by } = operatorOf('rails reconcile', said);
  const { orders, movements, balances, differences } = await runReconciliation(payments, tenant, { from, to }, by);
  const rows = differences.map(({ fault, transactionId, here, there, reference }) => ({
    fault,
    transaction: transactionId && publicId('Transaction', transactionId),
    here,
    there,
    reference,
  }));
  const held = balances ? `${balances.length} balances agree` : 'the rail reports no balances';
  const none = `No difference between ${orders} orders and ${movements} payments at the provider; ${held}.`;
  const data = { orders, movements, differences: rows };
  return { ...listed(rows, none), data, exitCode: rows.length > 0 ? 1 : 0 };
}

async function connect({ database, config }: Tools, name: string, said: Said): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  if (!config.SECRET_KEY) throw new Failure('Set SECRET_KEY: it encrypts the connection.');
  const strange = await strangeKey(database, config);
  if (strange !== undefined) throw new Failure(strange);
  const connection = (await text(process.stdin)).trim();
  if (connection === '') throw new Failure('Standard input is empty.');
  await inTransaction(database, async (act) => {
    await openConnections(database, config).write(platformId, connection, act.client);
    const subject = publicId('Platform', platformId);
    await recordAct(act, operatorOf('rails connect', said), { platformId, subject });
  });
  return { data: { connected: name }, lines: [`Stored. Try it: npm run ops -- rails check ${name}`] };
}

async function check({ database, payments }: Tools, name: string): Promise<Answer> {
  const tenant = await platformNamed(database, name);
  const rail = connectedRail(payments, tenant);
  if (!rail) throw new Failure(`No rail is connected for ${tenant.environment} platforms: set RAILS.`);
  if (!rail.checkConnection) throw new Failure(`The rail ${rail.name} has no connection to check.`);
  const found = await rail.checkConnection().catch((error: unknown) => {
    throw new Failure(
      `The rail ${rail.name} cannot use the connection: ${error instanceof Error ? error.message : error}`,
    );
  });
  return { data: { rail: rail.name, found }, lines: [`The rail ${rail.name} is connected: ${found}`] };
}

/** Prints each check of a rail with its result. Exits with 1 if one fails, or if none was run. */
async function tryRail({ screen, json }: Job, name: string): Promise<Answer> {
  const trial = await trialOf(name);
  const results = await runConformance(trial);
  await trial.close?.();
  const failed = results.filter(({ result }) => result === 'failed').length;
  const passed = results.filter(({ result }) => result === 'passed').length;
  if (!json) {
    for (const { check, kind, result, reason } of results)
      screen.out(`${result.padEnd(9)}  ${kind.padEnd(10)}  ${check}${reason === undefined ? '' : `: ${reason}`}`);
    screen.out(`\n${passed} passed, ${failed} failed, ${results.length - passed - failed} not tried`);
  }
  return { data: results, exitCode: failed === 0 && passed > 0 ? 0 : 1 };
}

async function trialOf(name: string): Promise<RailTrial> {
  const { trial }: { trial?: RailTrial } = await import(railAddress(name, process.cwd())).catch((error: unknown) => {
    throw new InvalidArgumentError(`${name} cannot be loaded: ${error instanceof Error ? error.message : error}`);
  });
  if (typeof trial?.open !== 'function' || typeof trial.order !== 'function')
    throw new InvalidArgumentError(`${name} exports no trial.`);
  return trial;
}
