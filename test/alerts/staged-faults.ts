import { setTimeout as delay } from 'node:timers/promises';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { simulatedDomain } from '../../src/rails/rail-parts.ts';
import { needsDisk } from '../faults/postgres.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { answer, startReceiver } from '../webhooks/receiver.ts';
import {
  between,
  bySql,
  eventsUntil,
  repeated,
  type Stage,
  type StagedFault,
  session,
  unstaged,
  whileOpen,
} from './staged-fault.ts';

const address = (currency: string) => `$success.${currency}@${simulatedDomain}`;

/** Looks up a receiver. Returns a function that reads the lookup again. */
async function readingLookups({ other }: Stage) {
  const { id } = await other.lookUp(address('usd'));
  return () => other.send('query ($id: ID!) { node(id: $id) { id ... on Lookup { umaAddress } } }', { id });
}

/** Alerts fire when more than `lateDeliveries` deliveries are unfinished or more than `lag` events are undispatched. */
const lateDeliveries = 10_000;
const lag = 500;
/** The maximum number of endpoints per platform. */
const endpoints = 20;

/** Returns SQL that stores a comparison with a provider as if it had finished the given time ago. */
const comparison = (age: string) => `insert into reconciliation (platform_id, period_from, period_to, finished_at)
  select id, now() - interval '${age}', now() - interval '${age}' + interval '1 hour', now() - interval '${age}' from platform`;

const spoil = (accountId: string, by: string) => `begin; set local session_replication_role = replica;
  update account set posted = posted ${by} where id = '${accountId}'; commit`;

function onDisk(staged: string, fault: 'lock' | 'fill'): StagedFault {
  const heal = ({ postgres }: Stage) => postgres.disk?.heal();
  return {
    ...between(staged, ['PaymentsDatabaseAway'], ({ postgres }) => postgres.disk?.[fault](), heal),
    unavailable: needsDisk,
  };
}

const ofInstances: Readonly<Record<string, StagedFault>> = {
  // Faults in Postgres's disk, network or data.
  'unreachable database': between(
    'the network refuses new connections from one instance and closes the open ones',
    ['PaymentsDatabaseAway', 'PaymentsFiguresMissing', 'PaymentsFeedPolls'],
    ({ instance }) => instance.proxy.shut(),
    ({ instance }) => instance.proxy.reopen(),
  ),
  'black-holed connections': between(
    'the network drops everything that one instance sends to the database over open and new connections',
    ['PaymentsDatabaseAway', 'PaymentsFiguresMissing'],
    ({ instance }) => instance.proxy.stallOn(/./s),
    ({ instance }) => instance.proxy.goOn(),
  ),
  'Postgres is down': onDisk('`kill -9` of Postgres, with its disk read-only until the fault ends', 'lock'),
  'full disk': onDisk('the Postgres disk is filled', 'fill'),
  'read-only database': {
    staged: '`default_transaction_read_only` is set, and all connections are terminated',
    alerts: ['PaymentsDatabaseReadOnly'],
    async stage({ own }) {
      const [{ name }] = await own('select current_database() as name');
      const endAll =
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
      await own(`alter database "${name}" set default_transaction_read_only = on`);
      await own(endAll);
      return [() => own(`begin read write; alter database "${name}" reset default_transaction_read_only; commit`)];
    },
  },
  'missing migrations': bySql(
    'the migrations in the database differ from those of the service',
    ['PaymentsSchemaMissing'],
    'update _prisma_migrations set checksum = reverse(checksum)',
    'update _prisma_migrations set checksum = reverse(checksum)',
  ),
  'unmarked restore': between(
    'the database starts a new, unmarked epoch; ended by `ops restored`',
    ['PaymentsRestored'],
    ({ own }) => own('update feed_epoch set marked_at = null where id = (select max(id) from feed_epoch)'),
    ({ ops }) => ops('restored', '--yes'),
  ),
  'forgotten transaction': whileOpen(
    'someone leaves a transaction open after a write',
    ['PaymentsOldSnapshot'],
    'set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0',
    'begin; create table forgotten ()',
  ),
  'slot without a standby': bySql(
    'a replication slot that no standby reads from',
    ['PaymentsLogKept'],
    `select pg_create_physical_replication_slot('away', true);
     select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))`,
    `select pg_drop_replication_slot('away')`,
  ),
  'transaction numbers': unstaged(
    'the age of the oldest transaction in the database is raised by 1.2 billion',
    ['PaymentsTransactionNumbers'],
    'autovacuum undoes it immediately, so it is staged in the tests of the doctor',
  ),
  'disk that fills': unstaged(
    'less than 15 % of the Postgres disk is left',
    ['PaymentsDiskFilling'],
    'it needs a node exporter beside Postgres',
  ),
  'no instances': unstaged(
    'Prometheus is configured without targets, for example after a label or a name has changed',
    ['PaymentsInstancesMissing'],
    'the Prometheus of the soak always has targets',
  ),
  'frozen event loop': {
    staged: 'one instance is stopped for 0.7 of every 0.8 seconds (`SIGSTOP`)',
    alerts: ['PaymentsEventLoopHangs'],
    async stage({ instance }) {
      const stop = repeated(1, async () => {
        instance.pause();
        await delay(700);
        instance.goOn();
        await delay(90);
      });
      return [stop];
    },
  },
  'dead instance': between(
    '`kill -9` of an instance; ended by a new process',
    ['PaymentsInstanceDown'],
    ({ instance }) => instance.kill(),
    ({ instance }) => instance.start(),
  ),
  // Faults that affect only certain requests. The load's requests use other tables.
  'locked table': {
    staged: 'someone locks a table manually, and 31 requests at a time try to read it',
    alerts: ['PaymentsSessionsBlocked', 'PaymentsRequestsSlow', 'PaymentsPoolWaits'],
    async stage(stage) {
      const read = await readingLookups(stage);
      const holder = await session(stage.databaseUrl, 'begin', 'lock table lookup in access exclusive mode');
      const stop = repeated(31, read);
      return [() => holder.end().then(stop)];
    },
  },
  'lost right': {
    staged: 'the login loses its right to read a table, and requests try to read it',
    alerts: ['PaymentsFaults'],
    async stage(stage) {
      const read = await readingLookups(stage);
      await stage.own('revoke select on lookup from gateway_serving');
      const stop = repeated(1, read);
      return [() => stage.own('grant select on lookup to gateway_serving').then(stop)];
    },
  },
  'wrong index': {
    staged: 'someone creates a unique index that commands violate',
    alerts: ['PaymentsRacesLost'],
    async stage({ other, own }) {
      await other.lookUp(address('eur'));
      await own(`create unique index by_hand on lookup (platform_id) where uma_address = '${address('eur')}'`);
      const stop = repeated(2, () => other.lookUp(address('eur'), { idempotencyKey: crypto.randomUUID() }));
      return [() => own('drop index by_hand').then(stop)];
    },
  },
  overload: {
    staged: '300 concurrent requests to one instance with `MAX_IN_FLIGHT=32`',
    alerts: ['PaymentsLoadRefused'],
    async stage({ other }) {
      const read =
        '{ customers(first: 100) { edges { node { id } } } transactions(first: 100) { edges { node { id } } } }';
      const stop = repeated(300, () => other.send(read));
      return [stop];
    },
  },
  // Faults in background work: the feed, orders and webhooks.
  'stalled sequencer': whileOpen(
    "another session holds the sequencer's lock",
    ['PaymentsFeedStands'],
    `select pg_advisory_lock(${stepLock})`,
  ),
  'hanging feed': {
    staged: "one instance's reads of the feed hang, and more than 500 events arrive",
    alerts: ['PaymentsFeedBehind'],
    async stage(stage) {
      const { other, instance } = stage;
      const { usd } = await other.makeScene();
      const after = await other.feedEnd();
      const follower = other.watch('subscription ($after: String) { events(after: $after) { id } }', { after });
      await other.succeed('sandboxFundAccount', { accountId: usd, amount: 1n });
      await follower.next();
      instance.proxy.stallOn(/live_events/);
      const head = `select sequence::int as count from feed_head where platform_id = '${other.platformId}'`;
      const [{ count }] = await stage.own(head);
      await eventsUntil(stage, usd, head, count + lag);
      return [() => instance.proxy.goOn(), () => follower.return?.()];
    },
  },
  'failing loop': bySql(
    'the login loses its right to update rail orders, and new payments begin',
    ['PaymentsLoopFails', 'PaymentsOrdersOverdue'],
    'revoke update (due_at) on rail_order from gateway_work',
    'grant update (due_at) on rail_order to gateway_work',
  ),
  'unpayable refund': {
    staged: 'a payment to an external account fails, and its money cannot be returned; ended by `ops suspense release`',
    alerts: ['PaymentsSuspense'],
    async stage({ other, ops }) {
      const scene = await other.makeScene(50_000n, '007');
      const { id } = await other.pay(scene, 10_000);
      await other.ended(id);
      return [() => ops('suspense', 'release', id)];
    },
  },
  'receiver down': {
    staged: 'the receiver of 20 webhook endpoints answers 503 until more than 10,000 deliveries are waiting, then 200',
    alerts: ['PaymentsWebhooksLate'],
    async stage(stage) {
      const { other } = stage;
      const { usd } = await other.makeScene();
      const receiver = await startReceiver(answer(503));
      const ids: string[] = [];
      for (let made = 0; made < endpoints; made += 1) ids.push((await createEndpoint(other, { url: receiver.url })).id);
      const pending = "select count(*)::int as count from webhook_delivery where status = 'PENDING'";
      await eventsUntil(stage, usd, pending, lateDeliveries);
      const end = () => {
        receiver.answer = answer(200);
      };
      const cleanUp = async () => {
        for (const endpointId of ids) await other.succeed('deleteWebhookEndpoint', { endpointId });
        await receiver.stop();
      };
      return [end, cleanUp];
    },
  },
  // Problems that audits and reconciliations find.
  'corrupted balance': {
    staged:
      'the owner changes a balance, bypassing the ledger, and `ops audit` runs; ended by restoring the balance and running the audit again',
    alerts: ['PaymentsLedgerBroken'],
    async stage({ other, own, ops }) {
      const { usd } = await other.makeScene();
      const id = usd.replace('InternalAccount:', '');
      await own(spoil(id, '+ 1'));
      await ops('audit');
      return [() => own(spoil(id, '- 1')).then(() => ops('audit'))];
    },
  },
  'no audit': between(
    'the last audit is nine days old; ended by `ops audit`',
    ['PaymentsAuditLate'],
    ({ own }) => own(`insert into audit_run (finished_at, rules, broken) values (now() - interval '9 days', 1, '{}')`),
    ({ ops }) => ops('audit'),
  ),
  'no audit of all rows': between(
    'the last audit of all rows is six weeks old, and later audits continued from it; ended by `ops audit --full`',
    ['PaymentsFullAuditLate'],
    ({ own }) =>
      own(`insert into audit_run (finished_at, rules, broken) values (now() - interval '6 weeks', 1, '{}');
        insert into audit_run (rules, broken, covers_from) values (1, '{}', now() - interval '1 day')`),
    ({ ops }) => ops('audit', '--full'),
  ),
  'difference with a provider': {
    staged: 'a difference is stored as a comparison would store it; ended by `ops reconcile close`',
    alerts: ['PaymentsReconciliationDiffers'],
    async stage({ own, ops }) {
      const [{ id }] =
        await own(`insert into reconciliation_difference (platform_id, fault, period_from, period_to, same_as)
        select id, 'MISSING_THERE', now() - interval '1 day', now(), 'staged' from platform limit 1 returning id`);
      const said = ['--by', 'Ada Lovelace', '--reason', 'it was staged'];
      return [() => ops('reconcile', 'close', `ReconciliationDifference:${id}`, ...said)];
    },
  },
  'no comparison': bySql(
    'the last comparison with a provider is three days old; ended by a new one',
    ['PaymentsReconciliationLate'],
    `delete from reconciliation; ${comparison('3 days')}`,
    comparison('1 second'),
  ),
};

const ofReplica: Readonly<Record<string, StagedFault>> = {
  'replica away': between(
    'the network refuses new connections to the replica and closes the open ones',
    ['PaymentsReplicaAway'],
    ({ replica }) => replica?.stopListening(),
    ({ replica }) => replica?.startListening(),
  ),
};

interface Scene {
  readonly hasReplica: boolean;
  readonly faults: Readonly<Record<string, StagedFault>>;
}

/** The faults for `npm run soak -- alerts`, at least one for each alert. Some of them cannot be staged. */
export const scenes: readonly Scene[] = [
  { hasReplica: false, faults: ofInstances },
  { hasReplica: true, faults: ofReplica },
];

export const stagedFaults: Readonly<Record<string, StagedFault>> = { ...ofInstances, ...ofReplica };
