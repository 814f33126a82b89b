import type { Bug } from './plant.ts';

const directory = 'src/clusters/directory.ts';
const routing = 'test/front/routing.test.ts';
const payments = 'test/clusters/payments.test.ts';
const moved = { file: routing, title: 'a platform that has moved, or is being moved' };
const arrivesOnce = {
  file: payments,
  title: 'is found there, waits for the approval there, and arrives once, with what each side may know',
};

/** Bugs in the front, and between clusters. */
export const clusterBugs: readonly Bug[] = [
  {
    bug: 'the directory forgets where a platform has moved',
    file: directory,
    find: 'if (moved) return moved;',
    put: 'if (moved?.isPaused) return moved;',
    caughtBy: moved,
  },
  {
    bug: 'a UMA domain belongs to whoever has the end of it',
    file: directory,
    find: 'const cluster = this.#domains.get(rest);',
    put: "const cluster = this.#domains.get(rest.split('.').slice(-2).join('.'));",
    caughtBy: { file: 'test/front/settings.test.ts', title: 'the directory of the page is one' },
  },
  {
    bug: 'the front sends everything to the default cluster',
    file: directory,
    find: 'cluster: cluster !== undefined && this.clusters.has(cluster) ? cluster : this.#default',
    put: 'cluster: this.#default',
    caughtBy: { file: routing, title: 'by the client id of a server: GraphQL by POST and GET, and REST' },
  },
  {
    bug: 'the front serves a platform that is being moved',
    file: 'src/front/front.ts',
    find: 'const { cluster, isPaused } = directory.current.placeOf(route.claim);',
    put: 'const { cluster } = directory.current.placeOf(route.claim);\n  const isPaused = false;',
    caughtBy: moved,
  },
  {
    bug: 'the front sends a command again whose answer was lost',
    file: 'src/front/forward.ts',
    find: "if (method !== 'GET' && method !== 'HEAD') {",
    put: "if (method === 'DELETE') {",
    caughtBy: {
      file: 'test/front/passing-on.test.ts',
      title: 'a command is not sent twice, and its client hears that its outcome is unknown',
    },
  },
  {
    bug: 'the front goes on to ask an instance that does not answer',
    file: 'src/front/instances.ts',
    find: "const order: readonly State[] = ['READY', 'UNREADY'];",
    put: "const order: readonly State[] = ['AWAY'];",
    caughtBy: {
      file: 'test/front/passing-on.test.ts',
      title: 'where one of its instances is away, the others take all',
    },
  },
  {
    bug: 'the metrics of a front count no lost answer',
    file: 'src/front/forward.ts',
    find: "return 'lost';",
    put: "return 'away';",
    caughtBy: {
      file: 'test/front/metrics.test.ts',
      title: 'requests are counted by cluster and by what came of them, with their time',
    },
  },
  {
    bug: 'an order is sent to another cluster under another key each time',
    file: 'src/payments/clusters/send-order.ts',
    find: '    orderId: id,',
    put: '    orderId: id.slice(0, -2) + String(10 + (order.attempts % 90)),',
    caughtBy: arrivesOnce,
  },
  {
    bug: 'an order of another cluster is taken again each time it comes',
    file: 'src/payments/clusters/receive-order.ts',
    find: 'if (claimed.length === 0) return;',
    put: '',
    caughtBy: arrivesOnce,
  },
  {
    bug: 'a cluster forgets that it has refused an order',
    file: 'src/payments/clusters/receive-order.ts',
    find: "if (refusal !== null) return { state: 'REJECTED', explanation: refusal };",
    put: '',
    caughtBy: { file: payments, title: 'cannot be taken any more: it is refused for good, and the money is back' },
  },
  {
    bug: 'money goes back while its order is unanswered',
    file: 'src/payments/clusters/send-order.ts',
    find: 'return outcomeOf(await ask(payments, cluster, message), order, settled);',
    put: `const refused = { state: 'REJECTED', explanation: 'no answer' } as const;
  return outcomeOf(await ask(payments, cluster, message).catch(() => refused), order, settled);`,
    caughtBy: { file: payments, title: 'on a way that %s' },
  },
  {
    bug: 'an order to another cluster is not noted',
    file: 'src/payments/clusters/send-order.ts',
    find: 'await noteStatement(payments.database.pool, platformId, id, cluster, transaction.id, currency, amount, orderedAt);',
    put: '',
    caughtBy: { file: payments, title: 'an order that only one side has' },
  },
  {
    bug: 'the signature of a call between clusters is good for any body',
    file: 'src/clusters/cluster-calls.ts',
    find: 'return isKnown && payload.digest === digestOf(path, body) ? iss : undefined;',
    put: 'return isKnown ? iss : undefined;',
    caughtBy: {
      file: payments,
      title:
        'is refused without a signature, with one of another key, for another cluster, and with another body or path',
    },
  },
  {
    bug: 'the auditor does not compare the amount of an order between clusters with its payment',
    file: 'src/ledger/cluster-rules.ts',
    find: '(o.amount, o.currency) is distinct from (t.received_amount, t.received_currency)',
    put: 'o.currency is distinct from t.received_currency',
    caughtBy: {
      file: 'test/ledger/audit.test.ts',
      title: 'an audit of all rows finds what was spoiled before the checkpoint: %s',
    },
  },
  {
    bug: 'a migration holds up requests for as long as it takes',
    file: 'src/database/migrations/give-way.ts',
    find: 'select pg_cancel_backend($1) where exists (',
    put: 'select pg_cancel_backend($1) where false and exists (',
    caughtBy: {
      file: 'test/database/migrate.test.ts',
      title: 'in a deadlock of a migration and a request it is the migration that ends',
    },
  },
];
