import { setTimeout as delay } from 'node:timers/promises';
import type { DoomedPostgres } from '../faults/postgres.ts';
import { bySql, type StagedFault, session } from './staged-fault.ts';

const needsDisk = ({ disk }: DoomedPostgres) =>
  disk ? undefined : 'only root, on Linux, can mount a disk that becomes full or read-only';

/** Faults of Postgres, of its disk, of the network to it and of its contents. */
export const databaseFaults: Readonly<Record<string, StagedFault>> = {
  'unreachable database': {
    staged: 'the network refuses the connections of one instance, and cuts the open ones',
    alerts: ['PaymentsDatabaseAway', 'PaymentsFiguresMissing', 'PaymentsFeedPolls'],
    async stage({ instance }) {
      instance.proxy.shut();
      return { end: () => instance.proxy.reopen() };
    },
  },
  'black-holed connections': {
    staged: 'the network drops everything one instance sends to the database, on open and on new connections',
    alerts: ['PaymentsDatabaseAway', 'PaymentsFiguresMissing'],
    async stage({ instance }) {
      instance.proxy.stallOn(/./s);
      return { end: () => instance.proxy.goOn() };
    },
  },
  'Postgres is down': {
    staged: '`kill -9` of Postgres, with its disk read-only until the end',
    alerts: ['PaymentsDatabaseAway'],
    unavailable: needsDisk,
    async stage({ postgres }) {
      await postgres.disk?.lock();
      return { end: () => postgres.disk?.heal() };
    },
  },
  'full disk': {
    staged: 'the disk of Postgres is filled',
    alerts: ['PaymentsDatabaseAway'],
    unavailable: needsDisk,
    async stage({ postgres }) {
      await postgres.disk?.fill();
      return { end: () => postgres.disk?.heal() };
    },
  },
  'read-only database': {
    staged: '`default_transaction_read_only`, and all connections are ended',
    alerts: ['PaymentsDatabaseReadOnly'],
    async stage({ own }) {
      const [{ name }] = await own('select current_database() as name');
      const endAll =
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
      await own(`alter database "${name}" set default_transaction_read_only = on`);
      await own(endAll);
      return {
        end: () => own(`begin read write; alter database "${name}" reset default_transaction_read_only; commit`),
      };
    },
  },
  'missing migrations': bySql(
    'the database has different migrations from the service',
    ['PaymentsSchemaMissing'],
    'update _prisma_migrations set checksum = reverse(checksum)',
    'update _prisma_migrations set checksum = reverse(checksum)',
  ),
  'unmarked restore': {
    staged: 'the database begins an unmarked epoch; ended by `ops restored`',
    alerts: ['PaymentsRestored'],
    async stage({ own, ops }) {
      await own('update feed_epoch set marked_at = null where id = (select max(id) from feed_epoch)');
      return { end: () => ops('restored', '--yes') };
    },
  },
  'forgotten transaction': {
    staged: 'a person leaves a transaction open after a write',
    alerts: ['PaymentsOldSnapshot'],
    async stage({ databaseUrl }) {
      const client = await session(
        databaseUrl,
        'set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0',
        'begin',
        'create table forgotten ()',
      );
      return { end: () => client.end() };
    },
  },
  'slot without a standby': {
    staged: 'a replication slot that no standby reads from',
    alerts: ['PaymentsLogKept'],
    async stage({ own }) {
      await own(`select pg_create_physical_replication_slot('away', true)`);
      await own(`select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))`);
      return { end: () => own(`select pg_drop_replication_slot('away')`) };
    },
  },
  'transaction numbers': {
    staged: 'the oldest transaction of the database is made 1.2 billion older',
    alerts: ['PaymentsTransactionNumbers'],
    unavailable: () => 'a server that vacuums reverts it immediately; the doctor is tested with it',
    async stage() {
      return { end: () => undefined };
    },
  },
  'disk that fills': {
    staged: 'the disk of Postgres has less than 15 % left',
    alerts: ['PaymentsDiskFilling'],
    unavailable: () => 'it needs a node exporter beside Postgres',
    async stage() {
      return { end: () => undefined };
    },
  },
  'no instances': {
    staged: 'Prometheus is configured without targets, for example after a label or a name has changed',
    alerts: ['PaymentsInstancesMissing'],
    unavailable: () => 'the Prometheus of the trial always knows its targets',
    async stage() {
      return { end: () => undefined };
    },
  },
  'frozen event loop': {
    staged: 'one instance is stopped for 0.7 of every 0.8 seconds (`SIGSTOP`)',
    alerts: ['PaymentsEventLoopHangs'],
    async stage({ instance }) {
      let hasEnded = false;
      const freezing = (async () => {
        while (!hasEnded) {
          instance.pause();
          await delay(700);
          instance.goOn();
          await delay(100);
        }
      })();
      return {
        end: () => {
          hasEnded = true;
          return freezing;
        },
      };
    },
  },
  'dead instance': {
    staged: '`kill -9` of an instance; ended by a new process',
    alerts: ['PaymentsInstanceDown'],
    async stage({ instance }) {
      await instance.kill();
      return { end: () => instance.start() };
    },
  },
};
