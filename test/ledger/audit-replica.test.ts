import { execFileSync } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { runAudit } from '../../src/domain/ledger/audit.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { query } from '../setup/embedded-servers.ts';
import { testGateway, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { startReplicated } from '../setup/standby.ts';

// Tests audits that read from a real standby and store their results on its primary.

const servers = await startReplicated(1);
afterAll(() => servers.stop());
const [standby = expect.fail()] = servers.standbys;
const t = await testGateway({}, servers.primary.url);
const { database } = t.gateway.payments;
const platform = await t.newPlatform('audited');
const scene = await platform.makeScene();
const deposit = () => platform.fund(scene.usd, 5n);

const answer = async (...args: string[]) => {
  const { out, code } = await runOps(servers.primary.url, ['--json', 'audit', ...args], {
    DATABASE_READ_URL: standby.url,
  });
  return { code, ...JSON.parse(out) };
};
const audited = `select a.on_replica, a.covers_from, a.covers_until, a.rules_digest is not null as checkpoint
  from audit_run a order by a.id desc`;
const audits = async () => (await t.owner.query(audited)).rows;

test('an audit of a standby is stored on the primary, with its checkpoint and the period that it covers', async () => {
  expect(await answer('--replica')).toMatchObject({ code: 0, sound: true, onReplica: true, isCheckpoint: true });
  const [{ covers_until: first, ...stored }] = await audits();
  expect(stored).toEqual({ on_replica: true, covers_from: null, checkpoint: true });

  await deposit();
  const { rows } = await t.owner.query('select clock_ms() as now');
  expect(await answer('--replica', '1')).toMatchObject({ code: 0, coversFrom: first.toISOString() });
  const [second] = await audits();
  expect(second).toMatchObject({ on_replica: true, covers_from: first, checkpoint: true });
  expect(second.covers_until.getTime()).toBeGreaterThanOrEqual(rows[0].now.getTime());
  const { rows: known } = await t.owner.query(
    'select a.posted = b.posted and a.version = b.version as same from account a join audit_balance b on b.account_id = a.id where a.id = $1',
    [uuidIn(scene.usd)],
  );
  expect(known).toEqual([{ same: true }]);
  expect(await answer()).toMatchObject({ code: 0, onReplica: false, coversFrom: second.covers_until.toISOString() });
});

test('an audit of the standby finds a broken rule', async () => {
  const spoil = (by: number) =>
    t.owner.query(`begin; set local session_replication_role = replica;
      update account set posted = posted + ${by} where posted > 0; commit`);
  await spoil(1);
  expect(await answer('--replica')).toMatchObject({ code: 1, sound: false });
  await spoil(-1);
  expect(await answer('--replica')).toMatchObject({ code: 0, sound: true, coversFrom: null });
});

test('a replica number that does not exist is refused', async () => {
  expect(await answer('--replica', '2')).toEqual({ code: 1, error: 'DATABASE_READ_URL has no replica number 2.' });
});

test('a server cannot be audited if it has stopped replaying or is not a standby', async () => {
  const auditOf = (replica: string) => expect(runAudit(database, { replica, replayMs: 300 })).rejects;
  await standby.pause();
  await deposit();
  await auditOf(standby.url).toThrow('had not replayed').finally(standby.resume);
  await auditOf(servingUrl(servers.primary.url)).toThrow('is not a standby of the primary');
});

/** Removes dead rows on the primary, and blocks this process until the standby has replayed their removal. */
function vacuum(): void {
  const script = `
    import pg from 'pg';
    const run = async (url, ...texts) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      let last;
      for (const text of texts) last = await client.query(text);
      await client.end();
      return last;
    };
    await run(process.env.PRIMARY,
      'create table bump (n int)', 'insert into bump select generate_series(1, 1000)', 'delete from bump', 'analyze bump');
    // Vacuum keeps the rows while an older transaction is open, so it is repeated until the table has no pages.
    while ((await run(process.env.PRIMARY, 'vacuum bump', "select relpages from pg_class where relname = 'bump'")).rows[0].relpages > 0);
    const { rows: [{ lsn }] } = await run(process.env.PRIMARY, 'drop table bump', 'select pg_current_wal_flush_lsn() as lsn');
    while (!(await run(process.env.STANDBY, \`select pg_last_wal_replay_lsn() >= '\${lsn}' as done\`)).rows[0].done);`;
  const env = { ...process.env, PRIMARY: servers.primary.url, STANDBY: standby.server.url };
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { env });
}

test('an audit that the standby cancels is restarted, and fails if it is canceled repeatedly', async () => {
  await query(standby.server.url, 'alter system set max_standby_streaming_delay = 0');
  await query(standby.server.url, 'select pg_reload_conf()');
  const lines: string[] = [];
  const disturb = (times: number) => (line: string) => {
    lines.push(line);
    if (line.startsWith('3 of') && lines.filter((one) => one.startsWith('3 of')).length <= times) vacuum();
  };
  const options = { replica: standby.url, full: true };
  expect(await runAudit(database, { ...options, onProgress: disturb(1) })).toMatchObject({ breaches: [] });
  expect(lines.filter((line) => line.includes('starting the audit again'))).toHaveLength(1);
  lines.length = 0;
  await expect(runAudit(database, { ...options, onProgress: disturb(9) })).rejects.toThrow('hot_standby_feedback');
  expect(lines.filter((line) => line.startsWith('3 of'))).toHaveLength(3);
});
