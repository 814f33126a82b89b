import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { makeServingLogin } from '../../src/database/embedded/serving-login.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { audit } from '../../src/ledger/audit.ts';
import { ended, feedEnd, pay, transactionOf } from '../setup/acts.ts';
import { connect, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';
import { clusterKey, directoryFile, startTestFront } from '../setup/two-clusters.ts';

// A platform moves from one cluster to another, on two servers, by the statements of docs/clusters.md as they stand there, while it
// moves money. Then both sides are compared. MOVE_PAYMENTS sets how many payments it has made before.

const payments = Number(process.env.MOVE_PAYMENTS ?? 2_000);
const run = promisify(execFile);

/** The statements of the page, by the numbers of its steps; a step may have several. */
const steps = (() => {
  const [, section = ''] = readFileSync('docs/clusters.md', 'utf8').split('## How do I move a platform?');
  const [, ...parts] = section.split(/^\*\*(?=\d+\. )/m);
  return parts.map((part) => [...part.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql));
})();

const statementOf = (step: number, position = 0): string => {
  const sql = steps[step - 1]?.[position];
  if (sql === undefined) throw new Error(`the page has no statement ${position + 1} in step ${step}`);
  return sql;
};

async function psql(server: string, sql: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'move-'));
  const file = path.join(folder, 'step.sql');
  await writeFile(file, sql);
  const given = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`]);
  try {
    const { stdout } = await run('psql', [
      server,
      '-X',
      '-A',
      '-t',
      '-q',
      '-v',
      'ON_ERROR_STOP=1',
      ...given,
      '-f',
      file,
    ]);
    return stdout.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function repeatUntil(wanted: string, ask: () => Promise<string>): Promise<void> {
  while ((await ask()) !== wanted) await delay(100);
}

async function startServer(name: string, folder: string): Promise<EmbeddedPostgres> {
  const dataDir = path.join(folder, name);
  const first = await startEmbeddedPostgres({ dataDir });
  const client = new pg.Client({ connectionString: first.url });
  await client.connect();
  await client.query('alter system set wal_level = logical');
  await client.end();
  await first.stop();
  const server = await startEmbeddedPostgres({ dataDir });
  await migrate(server.url);
  await makeServingLogin(server.url);
  return server;
}

/** The bytes of the rows of a platform, without indexes. */
async function bytesOf(url: string, platform: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query(tablesOfPlatforms);
    const sums = tables.map(
      ({ relname, attname }) => `(select coalesce(sum(pg_column_size(t)), 0) from ${relname} t where ${attname} = $1)`,
    );
    const { rows } = await client.query(`select (${sums.join(' + ')})::float8 as bytes`, [platform]);
    return rows[0].bytes;
  } finally {
    await client.end();
  }
}

const tablesOfPlatforms = `
  select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    and a.attname = case c.relname when 'platform' then 'id' else 'platform_id' end
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'outbox'`;

/** The rows of a platform in each table: how many, and a digest of them. */
async function rowsOf(url: string, platform: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query(tablesOfPlatforms);
  const found = new Map<string, string>();
  for (const { relname, attname } of tables) {
    const { rows } = await client.query(
      `select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as digest from ${relname} t where ${attname} = $1`,
      [platform],
    );
    found.set(relname, rows[0].digest);
  }
  await client.end();
  return found;
}

test('a platform moves by the page, and nothing is lost', { timeout: 1_200_000 }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'clusters-move-'));
  await run('chmod', ['711', folder]);
  const [from, to] = [await startServer('north', folder), await startServer('south', folder)];
  const nowhere = ['http://127.0.0.1:9'];
  const clusters = (north: readonly string[], south: readonly string[], moved: readonly string[] = []) => ({
    clusters: {
      north: { instances: north, domains: ['north.uma.money'] },
      south: { instances: south, domains: ['south.uma.money', ...moved] },
    },
    default: 'north',
  });
  const file = directoryFile(clusters(nowhere, nowhere));
  const start = (CLUSTER: string, { url }: EmbeddedPostgres) =>
    startTestGateway({ CLUSTER, CLUSTER_DIRECTORY: file.path, CLUSTER_KEY: clusterKey }, url);
  const [north, south] = [await start('north', from), await start('south', to)];
  const addresses = [[north.url], [south.url]] as const;
  file.write(clusters(...addresses));
  const front = await startTestFront(file.path);
  const reload = (json: Parameters<typeof file.write>[0]) => {
    file.write(json);
    for (const directory of [front.directory, ...[north, south].map(directoryOf)]) directory?.reload();
  };
  reload(clusters(...addresses));

  const { platformId: platform, authorization } = await north.newPlatform('mover');
  const stays = await north.newPlatform('stays');
  await makeScene(stays);
  const mover = connect(front.url, platform, authorization);
  const scene = await makeScene(mover, 1_000_000_000n);
  const begin = await feedEnd(mover);
  for (let made = 0; made < payments; made += 20) {
    await Promise.all(Array.from({ length: 20 }, () => pay(mover, scene, 100)));
  }
  const repeated = await pay(mover, scene, 500, { idempotencyKey: 'before-the-move' });

  const { hostname, port, pathname, password, username } = new URL(from.url);
  const source = `host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password=${password}`;
  const at = {
    source: (sql: string) => psql(from.url, sql, { platform }),
    to: (sql: string) => psql(to.url, sql, { platform, source }),
  };
  let now = performance.now();
  await at.source(statementOf(1));
  await at.to(statementOf(2));
  await at.to(statementOf(3));
  await repeatUntil('0', () => at.to(statementOf(4)));
  const copySeconds = (performance.now() - now) / 1_000;
  const bytes = await bytesOf(to.url, platform);
  const during = await pay(mover, scene, 700);

  now = performance.now();
  reload({ ...clusters(...addresses), platforms: { [`Platform:${platform}`]: { paused: 'north' } } });
  await repeatUntil('0', () => at.source(statementOf(6)));
  const sequence = await at.source(statementOf(7));
  await repeatUntil(sequence, () => at.to(statementOf(7)));
  const before = await rowsOf(from.url, platform);
  const [compared, rows] = [await rowsOf(to.url, platform), total(before)];
  await psql(from.url, statementOf(8), { platform, sequence });
  await at.to(statementOf(9));
  await at.source(statementOf(9, 1));
  await at.to(statementOf(9, 2));
  reload({
    ...clusters(...addresses, ['mover.north.uma.money']),
    platforms: { [`Platform:${platform}`]: 'south' },
  });
  const again = await pay(mover, scene, 500, { idempotencyKey: 'before-the-move' });
  const pauseSeconds = (performance.now() - now) / 1_000;
  console.log(
    `${rows} rows of ${payments} payments copied in ${copySeconds.toFixed(1)} s (${Math.round(rows / copySeconds)} a second, ${Math.round(bytes / rows)} bytes each, ${Math.round(bytes / payments)} for each payment); paused for ${pauseSeconds.toFixed(2)} s, with the comparison of all rows`,
  );
  compared.delete('arrival');
  before.delete('arrival');
  expect(Object.fromEntries(compared)).toEqual(Object.fromEntries(before));
  // The same key has the same payment, and money goes on.
  expect(again.id).toBe(repeated.id);
  expect((await ended(mover, (await pay(mover, scene, 100)).id)).status).toBe('COMPLETED');
  expect((await transactionOf(mover, during.id)).status).toBe('COMPLETED');
  expect(await balanceOf(mover, scene.usd)).toBe(
    1_000_000_000n - BigInt(Math.ceil(payments / 20) * 20 * 100 + 500 + 700 + 100),
  );
  // A cursor from before is good, and misses nothing.
  const seen: number[] = [];
  const { viewer } = await mover.ask('{ viewer { feedCursor } }');
  for await (const { data } of mover.watch('subscription ($after: String) { events(after: $after) { cursor } }', {
    after: begin,
  })) {
    seen.push(seen.length);
    if (data.events.cursor === viewer.feedCursor) break;
  }
  expect(seen.length).toBeGreaterThan(payments * 2);

  await at.source(statementOf(11));
  expect([...(await rowsOf(from.url, platform)).values()].every((digest) => digest === '0 0')).toBe(true);
  await front.stop();
  for (const gateway of [north, south]) await gateway.stop();
  for (const { url } of [from, to]) expect(await audit({ url })).toEqual([]);
  for (const server of [from, to]) await server.stop();
  file.remove();
  await rm(folder, { recursive: true, force: true });
});

function directoryOf({ gateway }: TestGateway) {
  return gateway.payments.cluster?.directory;
}

function total(rows: ReadonlyMap<string, string>): number {
  return [...rows.values()].reduce((sum, digest) => sum + Number(digest.split(' ')[0]), 0);
}
