import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import { actionOf, type Job, type Program } from '../apps/terminal/program.ts';
import type { Period } from '../core/checks.ts';
import { formatForeign, formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { connectedRail } from '../domain/commands/command.ts';
import { attributeDeposit, closeDeposit, listDeposits } from '../domain/providers/deposits.ts';
import {
  closeDifference,
  type DayTotal,
  listDifferences,
  runReconciliation,
} from '../domain/reconciliation/reconciliation.ts';
import { trustedJson } from '../infra/database/rows.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { runConformance } from '../rails/conformance/run.ts';
import type { RailTrial } from '../rails/conformance/trial.ts';
import { railAddress } from '../rails/load-rails.ts';
import { openConnections } from '../server/gateway.ts';
import { wordsOf } from '../server/print-error.ts';
import { listKeysInUse, missingKeys } from '../server/start/keys-in-use.ts';
import { platformNamed } from './platforms.ts';
import {
  type Acting,
  addAct,
  addCommand,
  addDecision,
  type Deciding,
  ofPlatform,
  periodOf,
  type Tools,
} from './tools.ts';

export function addRails(program: Program): void {
  const rails = program.command('rails').description("the platforms' connections to the providers of their rails");
  addAct(rails, 'connect', connect)
    .description(
      'read a platform\'s connection to its provider from standard input, and store it encrypted; running instances use it at once. For the upstream rail, it is {"baseUrl": …, "clientId": …, "secret": …, "webhookSecret": …}',
    )
    .argument(...ofPlatform);
  addCommand(rails, 'check', check)
    .description("test a platform's connection; moves no money")
    .argument(...ofPlatform);
  periodOf(
    addAct(rails, 'reconcile', compare).description(
      "compare the orders of a period, and the current balances, with the provider's. Every difference is printed with both sides and stored; none is corrected",
    ),
  ).argument(...ofPlatform);
  rails
    .command('try')
    .description(
      'run the conformance suite against a rail: the provider settles and refuses orders, loses a response, receives an order twice, contradicts itself, and is slow or down; the rail is killed during an order',
    )
    .argument('<module>', 'a package or a file, such as ./my-rail.ts, that exports its "trial" (src/rails/README.md)')
    .action(actionOf(tryRail));
}

/** Prints all differences, and exits with 1 if there are any. */
async function compare({ database, payments, operator }: Acting, name: string, { from, to }: Period) {
  if (from >= to) throw new InvalidArgumentError('The period must not end before it begins.');
  const tenant = await platformNamed(database, name);
  const result = await runReconciliation(payments, tenant, { from, to }, operator.by);
  const { orders, movements, balances, differences } = result;
  const rows = differences.map(({ fault, transactionId, here, there, reference }) => {
    return { fault, transaction: transactionId && publicId('Transaction', transactionId), here, there, reference };
  });
  const held = balances ? `${balances.length} balances agree` : 'the rail reports no balances';
  const none = `No differences between ${orders} orders and ${movements} payments at the provider; ${held}.`;
  const data = { orders, movements, differences: rows };
  return { ...listed(rows, none), data, exitCode: rows.length > 0 ? 1 : 0 };
}

async function connect({ database, config, operator }: Acting, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  if (!config.SECRET_KEY) throw new Failure('Set SECRET_KEY: it encrypts the connection.');
  const inUse = (await listKeysInUse(database)).filter(({ setting }) => setting === 'SECRET_KEY');
  const [missing] = missingKeys(inUse, config);
  if (missing !== undefined) throw new Failure(missing);
  const connection = (await text(process.stdin)).trim();
  if (connection === '') throw new Failure('Standard input is empty.');
  await inTransaction(database, async (act) => {
    await openConnections(database, config).write(platformId, connection, act.client);
    await recordAct(act, operator, { platformId, subject: publicId('Platform', platformId) });
  });
  return { data: { connected: name }, lines: [`Stored. Try it: npm run ops -- rails check ${name}`] };
}

async function check({ database, payments }: Tools, name: string): Promise<Answer> {
  const tenant = await platformNamed(database, name);
  const rail = connectedRail(payments, tenant);
  if (!rail) throw new Failure(`No rail is connected for ${tenant.environment} platforms: set RAILS.`);
  if (!rail.checkConnection) throw new Failure(`The rail ${rail.name} has no connection to check.`);
  const found = await rail.checkConnection().catch((error: unknown) => {
    throw new Failure(`The rail ${rail.name} cannot use the connection: ${wordsOf(error)}`);
  });
  return { data: { rail: rail.name, found }, lines: [`The rail ${rail.name} is connected: ${found}`] };
}

/** Prints each check of a rail with its result. Exits with 1 if a check fails, or if none was run. */
async function tryRail(_job: Job, name: string): Promise<Answer> {
  const trial = await trialOf(name);
  const results = await runConformance(trial);
  await trial.close?.();
  const failed = results.filter(({ result }) => result === 'failed').length;
  const passed = results.filter(({ result }) => result === 'passed').length;
  const lines = results.map(
    ({ check, kind, result, reason }) =>
      `${result.padEnd(9)}  ${kind.padEnd(10)}  ${check}${reason === undefined ? '' : `: ${reason}`}`,
  );
  lines.push('', `${passed} passed, ${failed} failed, ${results.length - passed - failed} not tried`);
  return { data: results, lines, exitCode: failed === 0 && passed > 0 ? 0 : 1 };
}

async function trialOf(name: string): Promise<RailTrial> {
  const { trial }: { trial?: RailTrial } = await import(railAddress(name, process.cwd())).catch((error: unknown) => {
    throw new InvalidArgumentError(`${name} cannot be loaded: ${wordsOf(error)}`);
  });
  if (typeof trial?.open !== 'function' || typeof trial.order !== 'function')
    throw new InvalidArgumentError(`${name} exports no trial.`);
  return trial;
}

export function addReconcile(program: Program): void {
  const found = program
    .command('reconcile')
    .description('the differences between the ledger and the providers; the service looks for them every day');
  addCommand(found, 'list', listOpenDifferences)
    .description('list the open differences, oldest first')
    .option('--all', 'include those that are closed or no longer found');
  addDecision(found, 'close', closeFound, 'what the investigation found')
    .description('close a difference after an investigation; moves no money')
    .argument('<difference>', 'its id: ReconciliationDifference:…');
  periodOf(
    addCommand(found, 'days', listDays).description(
      'list the daily totals and balances in each currency, in the ledger and at the provider',
    ),
  ).argument(...ofPlatform);
}

async function listOpenDifferences({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
  const rows = (await listDifferences(database, { all })).map((one) => ({
    difference: publicId('ReconciliationDifference', one.id),
    platform: one.platform.name,
    fault: one.fault,
    transaction: one.transactionId && publicId('Transaction', one.transactionId),
    here: one.here,
    there: one.there,
    reference: one.reference,
    since: one.foundAt,
    times: one.times,
    ...(all && { goneAt: one.goneAt, closedAt: one.closedAt, closedBy: one.closedBy }),
  }));
  return listed(rows, 'The ledger and the providers agree.');
}

async function closeFound({ database, operator }: Deciding, id: string): Promise<Answer> {
  await closeDifference(database, id, operator);
  return { data: { closed: id }, lines: [`${id} is closed.`] };
}

async function listDays({ database }: Tools, name: string, { from, to }: Period): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const runs = await database.prisma.reconciliation.findMany({
    where: { platformId, periodFrom: { gte: from }, periodTo: { lte: to } },
    orderBy: [{ periodFrom: 'asc' }, { periodTo: 'asc' }],
  });
  const rows = runs.flatMap(({ periodFrom, periodTo, finishedAt, failure, totals }) => {
    const currencies = trustedJson<readonly DayTotal[]>(totals);
    const days = currencies.length > 0 ? currencies : [undefined];
    return days.map((day) => ({ from: periodFrom, to: periodTo, ...inMajor(day), comparedAt: finishedAt, failure }));
  });
  return listed(rows, 'No day in this period was compared.');
}

const sums = ['receivedHere', 'receivedThere', 'paidHere', 'paidThere', 'booked', 'held'] as const;

/** Formats a day's totals in one currency. A missing total is null. */
function inMajor(day: DayTotal | undefined) {
  const words = (units: string | null) => units && formatMajor(BigInt(units), requiredCurrency(day?.currency ?? ''));
  const totals = sums.map((sum) => [sum, words(day?.[sum] ?? null)] as const);
  return { currency: day?.currency ?? null, ...Object.fromEntries(totals) };
}

export function addDeposits(program: Program): void {
  const deposits = program
    .command('deposits')
    .description('deposits at a provider that could not be assigned to an account');
  addCommand(deposits, 'list', listOpenDeposits).description('list the deposits that await a decision, oldest first');
  addDecision(deposits, 'credit', creditDeposit)
    .description('assign a deposit to an account; the workers credit it')
    .argument('<deposit>', 'its id: Deposit:…')
    .requiredOption('--to <account>', "an internal account of the deposit's platform and currency: InternalAccount:…");
  addDecision(deposits, 'close', closeUnassigned)
    .description('close a deposit that belongs to no account of this installation; moves no money')
    .argument('<deposit>', 'its id: Deposit:…');
}

async function listOpenDeposits({ database }: Tools): Promise<Answer> {
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

async function creditDeposit({ database, operator }: Deciding, id: string, { to }: { readonly to: string }) {
  await attributeDeposit(database, id, to, operator);
  return { data: { deposit: id, account: to }, lines: [`${id} is assigned to ${to}. The workers will credit it.`] };
}

async function closeUnassigned({ database, operator }: Deciding, id: string): Promise<Answer> {
  await closeDeposit(database, id, operator);
  return { data: { closed: id }, lines: [`${id} is closed. Nothing has moved.`] };
}
