import type { Command } from 'commander';
import { ClusterFault } from '../clusters/cluster-calls.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import { type ClusterDifference, type Comparison, compareWith, type Debt } from '../payments/clusters/compare.ts';
import { resendOrder } from '../payments/clusters/resend-order.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { nameIn, operatorOf, reasonIn } from './operator.ts';

/** Adds the commands about other clusters. */
export function addClusters(program: Command): void {
  const clusters = program.command('clusters').description('payments between this cluster and others');
  clusters
    .command('compare')
    .description(
      'compare what was settled with the other clusters, by the books of both sides, and name every difference',
    )
    .action(withDatabase(compare));
  clusters
    .command('resend')
    .description(
      'send the settled order of a payment to its cluster again, which has lost it: it credits it, or the payment comes back',
    )
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .requiredOption('--by <name>', 'who decided it', nameIn)
    .requiredOption('--reason <text>', 'how you know that the other cluster has lost it', reasonIn)
    .action(withDatabase(resend));
}

async function compare({ payments }: Tools): Promise<Answer> {
  const { cluster } = payments;
  if (!cluster) throw new CommandError('This installation is no named cluster: CLUSTER is not set.');
  const others = [...cluster.directory.current.clusters.keys()].filter((name) => name !== cluster.name);
  const found: Comparison[] = [];
  for (const other of others) {
    found.push(
      await compareWith(payments, other).catch((error: unknown) => {
        throw error instanceof ClusterFault ? new CommandError(`${error.message}. Nothing was compared.`) : error;
      }),
    );
  }
  const debts = found.flatMap(({ debts: owed }) => owed).map(inMajor);
  const differences = found.flatMap(({ differences: named }) => named).map(inWords);
  const underWay = found.reduce((sum, one) => sum + one.underWay, 0);
  return {
    data: { debts, differences, underWay },
    lines: [
      ...tableOf(debts, 'Nothing was settled with another cluster.'),
      '',
      ...tableOf(differences, 'Both sides agree on every order.'),
      ...(underWay > 0
        ? ['', `${underWay} orders are under way: one side has settled them, the other works on them.`]
        : []),
    ],
    exitCode: differences.length === 0 ? 0 : 1,
  };
}

function inMajor({ cluster, currency, ...sums }: Debt) {
  const words = (units: bigint) => formatMajor(units, requiredCurrency(currency));
  return {
    ...{ cluster, currency },
    owedToThem: words(sums.owedToThem),
    theyExpect: words(sums.theyExpect),
    owedToUs: words(sums.owedToUs),
    theyOwe: words(sums.theyOwe),
  };
}

function inWords({ amount, currency, transactionId, ...difference }: ClusterDifference) {
  return {
    ...difference,
    amount: formatMajor(BigInt(amount), requiredCurrency(currency)),
    transaction: transactionId && publicId('Transaction', transactionId),
  };
}

async function resend({ database }: Tools, id: string, said: { by: string; reason: string }): Promise<Answer> {
  const operator = { ...operatorOf('clusters resend', said), reason: said.reason };
  const sent = await resendOrder(database, id, operator);
  if (!sent) throw new CommandError(`${id} is no settled payment to another cluster.`);
  return { data: { resent: id }, lines: [`The order of ${id} is sent again now.`] };
}
