import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { uuidOf } from '../../../src/core/ids.ts';
import { stepLock } from '../../../src/domain/events/sequencer.ts';
import { simulatedDomain } from '../../../src/rails/rail-parts.ts';
import { repeated } from '../../alerts/staged-fault.ts';
import { connect } from '../../setup/gateway.ts';
import type { Installation } from './installation.ts';
import type { Operator } from './operator.ts';

/** A night: a fault and its documented repair. */
export interface Night {
  /** The alerts that must fire before the operator is called. Other alerts may fire as well. */
  readonly alerts: readonly string[];
  /** Whether requests fail with internal errors during the night. Such errors do not tell clients the outcome. */
  readonly fails?: true;
  readonly hasStandby?: true;
  breakIt(machine: Installation): Promise<unknown>;
  /** Repairs the installation with commands from the documentation, or from the output of such commands. */
  repair(operator: Operator): Promise<unknown>;
}

/** Changes a setting of every instance, and restarts each of them. */
async function setEverywhere({ gateways, edit, restart }: Installation, from: string | RegExp, to: string) {
  for (const { unit } of gateways) {
    await edit(`${unit}.settings`, from, to);
    await restart(unit);
  }
}

const receiver = `$success.eur@${simulatedDomain}`;

async function otherPlatform({ shell, gateways }: Installation) {
  const created = JSON.parse(await shell(`npm run -s ops -- --json platform create ${crypto.randomUUID()} --sandbox`));
  return connect(gateways[0]?.url ?? '', uuidOf(created.id, 'Platform') ?? '', created.authorization);
}

/** Ends the session that blocks others, with the command that `blocked` prints. */
const endBlocker = async ({ run, sql }: Operator) =>
  sql((await run('npm run ops -- blocked')).find(/select pg_terminate_backend\(\d+\)/));

/** Runs the statement that repairs what the doctor reports. */
const byDoctor =
  (report: RegExp, statement: (found: string) => string): Night['repair'] =>
  async ({ run, sql }) =>
    sql(statement((await run('npm run ops -- doctor')).find(report)));

export const nights: Readonly<Record<string, Night>> = {
  'a forgotten ALTER': {
    alerts: ['PaymentsSessionsBlocked'],
    breakIt: ({ session }) => session('DBeaver 25', 'begin', 'alter table transaction add column note text'),
    repair: endBlocker,
  },
  'a prepared transaction that nobody ends': {
    alerts: ['PaymentsSessionsBlocked'],
    breakIt: ({ session }) =>
      session('import', 'begin', 'lock table transaction in share mode', `prepare transaction 'import-7'`),
    async repair({ run, sql }) {
      (await run('npm run ops -- blocked')).find(/ROLLBACK PREPARED/);
      const gid = (await sql('select gid, owner, prepared from pg_prepared_xacts')).find(/import-\d/);
      await sql(`rollback prepared '${gid}'`);
    },
  },
  'a REINDEX behind a dump': {
    alerts: ['PaymentsSessionsBlocked'],
    async breakIt({ session }) {
      await session('pg_dump', 'begin isolation level repeatable read read only', 'select count(*) from transaction');
      const waiting = await session('psql');
      waiting.query('reindex table transaction').catch(() => undefined);
    },
    repair: endBlocker,
  },
  'a replication slot without a standby': {
    alerts: ['PaymentsLogKept'],
    async breakIt({ own }) {
      await own(`select pg_create_physical_replication_slot('standby_old', true)`);
      await own(`select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))`);
    },
    repair: byDoctor(/(?<=slots: )\w+/, (slot) => `select pg_drop_replication_slot('${slot}')`),
  },
  'a right that is gone': {
    alerts: ['PaymentsSchemaMissing'],
    fails: true,
    breakIt: ({ own }) => own('revoke execute on function commit_batches from gateway_serving'),
    repair: byDoctor(
      /commit_batches\(jsonb\) lacks the right EXECUTE for gateway_serving/,
      () => 'grant execute on function commit_batches(jsonb) to gateway_serving',
    ),
  },
  'Postgres is down': {
    alerts: ['PaymentsDatabaseAway'],
    breakIt: ({ signal }) => signal('postgres', 'SIGKILL'),
    repair: ({ machine }) => machine.start('postgres'),
  },
  'Postgres hangs': {
    alerts: ['PaymentsDatabaseAway'],
    breakIt: ({ signal }) => signal('postgres', 'SIGSTOP'),
    repair: ({ machine }) => machine.restart('postgres'),
  },
  'an instance hangs': {
    alerts: ['PaymentsInstanceDown'],
    breakIt: ({ signal }) => signal('gateway-1', 'SIGSTOP'),
    repair: ({ machine }) => machine.restart('gateway-1'),
  },
  'another key on one instance': {
    alerts: ['PaymentsInstanceDown'],
    async breakIt({ edit, restart }) {
      await edit('gateway-2.settings', /^SECRET_KEY=.*$/m, `SECRET_KEY=${randomBytes(32).toString('hex')}`);
      await restart('gateway-2');
    },
    async repair({ log, machine: { start, read, edit } }) {
      await log('gateway-2', /use the key/);
      const [key = ''] = /^SECRET_KEY=.*$/m.exec(await read('gateway-1.settings')) ?? [];
      await edit('gateway-2.settings', /^SECRET_KEY=.*$/m, key);
      await start('gateway-2');
    },
  },
  'no instance with background work': {
    alerts: ['PaymentsFeedStands'],
    breakIt: (machine) => setEverywhere(machine, 'NODE_ENV', 'ROLE=serve\nNODE_ENV'),
    repair: ({ machine }) => setEverywhere(machine, 'ROLE=serve', 'ROLE=all'),
  },
  'a forgotten lock of the sequencer': {
    alerts: ['PaymentsFeedStands'],
    breakIt: ({ session }) => session('psql', `select pg_advisory_lock(${stepLock})`),
    repair: byDoctor(/select pg_terminate_backend\(\d+\)/, (statement) => statement),
  },
  'a full disk': {
    alerts: ['PaymentsDatabaseAway', 'PaymentsDiskFilling'],
    breakIt: ({ fill }) => fill('before-upgrade.dump', 4_000_000),
    async repair({ machine }) {
      const dump = path.join(machine.disk, 'before-upgrade.dump');
      await copyFile(dump, path.join(machine.folder, 'before-upgrade.dump'));
      await rm(dump);
      await machine.start('postgres');
    },
  },
  'a slot that has filled the disk': {
    alerts: ['PaymentsDatabaseAway', 'PaymentsDiskFilling'],
    async breakIt({ own, fill }) {
      await own(`select pg_create_physical_replication_slot('analytics', true)`);
      await fill('lost+found', 250_000_000);
    },
    async repair({ machine, run, sql }) {
      await machine.remount('size=1400m');
      await machine.start('postgres');
      const slot = (await run('npm run ops -- doctor')).find(/(?<=slots: )\w+/);
      await sql(`select pg_drop_replication_slot('${slot}')`);
      await sql('checkpoint');
    },
  },
  'an archive that has moved': {
    alerts: ['PaymentsDiskFilling'],
    async breakIt({ folder, own, fillWithLog }) {
      await mkdir(path.join(folder, 'archive-new'));
      await chmod(path.join(folder, 'archive-new'), 0o777);
      await own(`alter system set archive_command = 'cp %p /mnt/archive/%f'`);
      await own('select pg_reload_conf()');
      await fillWithLog(0.13);
    },
    async repair({ machine, run, sql }) {
      (await run('npm run ops -- doctor')).find(/archive_command fails/);
      await sql(`alter system set archive_command = 'cp %p ${machine.folder}/archive-new/%f'`);
      await sql('select pg_reload_conf()');
      // After failures, the archiver may pause for a minute.
      while (/archive_command fails/.test((await run('npm run ops -- doctor')).output)) await delay(1_000);
      await sql('checkpoint');
    },
  },
  'a report that takes all connections': {
    alerts: ['PaymentsInstanceDown'],
    async breakIt({ start, stop, takeConnections }) {
      await stop('gateway-2');
      await takeConnections('report');
      await start('gateway-2');
    },
    async repair({ machine, run, sql }) {
      (await run('npm run ops -- doctor')).find(/53300|too many/);
      const count = 'select usename, application_name, count(*) from pg_stat_activity group by 1, 2 order by 3 desc';
      const login = (await sql(count)).find(/report(?= +\| +report +\| +\d\d)/);
      await sql(`alter role ${login} connection limit 5`);
      await sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${login}'`);
      await machine.start('gateway-2');
    },
  },
  'a trigger that is off': {
    alerts: [],
    breakIt: ({ own }) => own('alter table posting disable trigger append_only'),
    repair: byDoctor(
      /(?<=table posting lacks the trigger )\w+/,
      (trigger) => `alter table posting enable trigger ${trigger}`,
    ),
  },
  'a database that is read-only by default': {
    alerts: ['PaymentsDatabaseReadOnly'],
    async breakIt({ own }) {
      await own('alter database payments set default_transaction_read_only = on');
      await own(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gateway'`);
    },
    repair: byDoctor(
      /default_transaction_read_only is on/,
      () => 'begin read write; alter database payments reset default_transaction_read_only; commit',
    ),
  },
  'a synchronous standby that is gone': {
    alerts: ['PaymentsSessionsBlocked'],
    hasStandby: true,
    breakIt: ({ signal }) => signal('standby', 'SIGKILL'),
    // `doctor` always reports the problem. `blocked` misses it when run between two waiting commits.
    async repair({ machine, run }) {
      (await run('npm run ops -- doctor')).find(/no standby in synchronous_standby_names/);
      await machine.start('standby');
    },
  },
  'a primary that is lost': {
    alerts: ['PaymentsDatabaseReadOnly'],
    hasStandby: true,
    async breakIt(machine) {
      await machine.signal('postgres', 'SIGKILL');
      await rm(path.join(machine.disk, 'postgres', 'data'), { recursive: true });
    },
    async repair({ run, sql }) {
      await sql('select pg_promote()', 'standby');
      await run('npm run ops -- restored --yes');
    },
  },
  'a password that has been changed': {
    alerts: ['PaymentsDatabaseAway'],
    async breakIt({ own, write }) {
      await own(`alter role gateway password 'cGxlYXNlLXJvdGF0ZS1tZQ'`);
      await write('new-password', 'cGxlYXNlLXJvdGF0ZS1tZQ');
    },
    async repair({ machine, run }) {
      (await run('npm run ops -- doctor')).find(/28P01/);
      await setEverywhere(machine, /gateway:[^@]+@/, `gateway:${await machine.read('new-password')}@`);
    },
  },
  'a rule of pg_hba.conf': {
    alerts: ['PaymentsDatabaseAway'],
    async breakIt({ own, edit }) {
      await edit('pgdata/postgres/data/pg_hba.conf', /^/, 'host payments gateway 127.0.0.1/32 reject\n');
      await own('select pg_reload_conf()');
      await own(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gateway'`);
    },
    async repair({ machine, run, sql }) {
      (await run('npm run ops -- doctor')).find(/pg_hba\.conf/);
      await machine.edit('pgdata/postgres/data/pg_hba.conf', /^host payments gateway.*\n/, '');
      await sql('select pg_reload_conf()');
    },
  },
  'a setting that Postgres does not understand': {
    alerts: ['PaymentsDatabaseAway'],
    async breakIt({ edit, restart }) {
      await edit('pgdata/postgres/data/postgresql.conf', 'shared_buffers = 64MB', 'shared_buffers = 96MiB');
      await restart('postgres');
    },
    async repair({ log, machine: { edit, start } }) {
      await log('postgres', /shared_buffers/);
      await edit('pgdata/postgres/data/postgresql.conf', 'shared_buffers = 96MiB', 'shared_buffers = 96MB');
      await start('postgres');
    },
  },
  'a port that another program has taken': {
    alerts: ['PaymentsInstanceDown'],
    async breakIt({ start, stop, program, gateways: [, { url } = { url: '' }] }) {
      await stop('gateway-2');
      program(process.execPath, '-e', `require('net').createServer().listen(${new URL(url).port}, '127.0.0.1')`);
      await start('gateway-2');
    },
    async repair({ log, machine, run }) {
      const port = await log('gateway-2', /(?<=PORT )\d+(?=.* in use)/);
      const pid = (await run('ss -ltnp')).find(new RegExp(`(?<=:${port} .*pid=)\\d+`));
      process.kill(Number(pid));
      await machine.start('gateway-2');
    },
  },
  'a disk that is read-only': {
    alerts: ['PaymentsDatabaseAway'],
    async breakIt(machine) {
      await machine.signal('postgres', 'SIGKILL');
      await machine.remount('ro');
      await machine.start('postgres');
    },
    async repair({ log, machine }) {
      await log('postgres', /Read-only file system/);
      await machine.remount('rw');
      await machine.start('postgres');
    },
  },
  'a loop without its right': {
    alerts: ['PaymentsLoopFails', 'PaymentsOrdersOverdue'],
    breakIt: ({ own }) => own('revoke update (due_at) on rail_order from gateway_work'),
    repair: byDoctor(
      /rail_order lacks the right UPDATE \(due_at\) for gateway_work/,
      () => 'grant update (due_at) on table rail_order to gateway_work',
    ),
  },
  'a function with other rights': {
    // Instances stay ready, because their readiness check calls the function with an empty plan, which needs no rights.
    alerts: ['PaymentsFaults'],
    fails: true,
    breakIt: ({ own }) => own('alter function commit_batches security invoker'),
    repair: byDoctor(
      /commit_batches\(jsonb\) lacks the security definer/,
      () => 'alter function commit_batches(jsonb) security definer',
    ),
  },
  'an index made by hand': {
    alerts: ['PaymentsRacesLost'],
    async breakIt(machine) {
      const other = await otherPlatform(machine);
      await other.lookUp(receiver);
      await machine.own(`create unique index fast_lookup on lookup (platform_id) where uma_address = '${receiver}'`);
      machine.atEnd(repeated(2, () => other.lookUp(receiver, { idempotencyKey: crypto.randomUUID() })));
    },
    repair: byDoctor(/(?<=additional unique index )\w+/, (index) => `drop index concurrently ${index}`),
  },
  'a refund that cannot be paid': {
    alerts: ['PaymentsSuspense'],
    async breakIt(machine) {
      const other = await otherPlatform(machine);
      await other.pay(await other.makeScene(50_000n, '007'), 10_000);
    },
    async repair({ run }) {
      const payment = (await run('npm run ops -- suspense list')).find(/Transaction:\S+/);
      await run(`npm run ops -- suspense release ${payment}`);
    },
  },
  'a difference with a provider': {
    alerts: ['PaymentsReconciliationDiffers'],
    breakIt: ({ own }) =>
      own(`insert into reconciliation_difference (platform_id, fault, period_from, period_to, same_as)
        select id, 'MISSING_THERE', now() - interval '1 day', now(), 'night' from platform limit 1`),
    async repair({ run }) {
      const difference = (await run('npm run ops -- reconcile list')).find(/ReconciliationDifference:\S+/);
      await run(`npm run ops -- reconcile close ${difference} --by 'Ada' --reason 'a test of the provider'`);
    },
  },
};
