import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runToEnd } from './setup/child-gateway.ts';
import { canMount, onDiskOfItsOwn } from './setup/embedded-servers.ts';

// If the data directory cannot be used, startup fails with a one-sentence message and no stack trace.

const keys = { SECRET_KEY: Buffer.alloc(32).toString('base64'), CLIENT_TOKEN_KEY: 'k'.repeat(32) };
const advice =
  'repair it, set DATA_DIR to another folder, or set DATABASE_URL, CLIENT_TOKEN_KEY and SECRET_KEY, which make DATA_DIR unnecessary';
const cases: readonly (readonly [what: string, environment: Environment])[] = [
  ['the keys', {}],
  ['the client-token key', { SECRET_KEY: keys.SECRET_KEY }],
  ['the cluster', keys],
];

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'data-directory-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

describe.each(cases)('%s', (_what, environment) => {
  test.each([
    ['below a file', 'file/data'],
    ['a file', 'file'],
  ])('%s', async (_where, name) => {
    await writeFile(path.join(parent, 'file'), '');
    const dataDir = path.join(parent, name);
    expectRefusal(run(dataDir, environment), dataDir, /\((ENOTDIR|EEXIST): /);
  });

  test.runIf(canMount())('on a read-only disk', () => {
    const mounted = onDiskOfItsOwn(parent, 'ro');
    for (const dataDir of [parent, path.join(parent, 'some', 'data')]) {
      expectRefusal(run(dataDir, environment, mounted), dataDir, /\(EROFS: read-only file system/);
    }
  });

  test.runIf(canMount())('on a full disk', () => {
    // The disk has just enough room for an empty folder.
    const full = 'mount -t tmpfs -o nr_inodes=2 none "$0" && mkdir "$0/data" && exec "$@"';
    const mounted = ['unshare', '-m', 'sh', '-c', full, parent];
    const dataDir = path.join(parent, 'data');
    expectRefusal(run(dataDir, environment, mounted), dataDir, /\(ENOSPC: no space left on device/);
  });
});

test.runIf(canMount())('a disk that fills up while the cluster is created is reported with a remedy', async () => {
  const dataDir = path.join(parent, 'data');
  const { status, stderr } = run(dataDir, {}, onDiskOfItsOwn(parent, 'size=8m'));
  expect(stderr).toMatch(
    /^The embedded Postgres could not create its database in .*No space left on device.*DATABASE_URL/s,
  );
  expect(stderr).not.toMatch(/^ +at /m);
  expect(status).toBe(1);
});

test.runIf(canMount())('startup as root fails if no folder can be created for the user who runs Postgres', async () => {
  const dataDir = path.join(parent, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { status, stderr } = run(dataDir, keys, onDiskOfItsOwn('/var/lib', 'ro'));
  expect(stderr).toMatch(
    /^Postgres cannot run as root, and the user "nobody", who runs it instead, cannot enter \S+\/data/,
  );
  expect(stderr).toMatch(/\/var\/lib\/payments-graphql-gateway cannot be used \(EROFS.*set DATABASE_URL/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(status).toBe(1);
});

test('a database that cannot be opened is reported with a remedy and without a stack trace', async () => {
  const dataDir = path.join(parent, 'data');
  await chmod(parent, 0o711);
  await mkdir(path.join(dataDir, 'postgres'), { recursive: true });
  const { status, stderr } = run(dataDir, {});
  expect(stderr).toMatch(/cannot be opened\. Start as the user who created it.*DATABASE_URL\.\n$/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(status).toBe(1);
});

type Environment = Readonly<Record<string, string>>;

const run = (dataDir: string, environment: Environment, wrapper: readonly string[] = []) =>
  runToEnd({ ...environment, DATA_DIR: dataDir }, { wrapper });

function expectRefusal(ended: { status: number | null; stderr: string }, dataDir: string, reason: RegExp): void {
  const sentence = ended.stderr.replace('Invalid settings:\n  - ', '').trimEnd();
  expect(sentence.split('\n')).toHaveLength(1);
  expect(sentence.startsWith(`DATA_DIR ${dataDir} cannot be used (`)).toBe(true);
  expect(sentence).toMatch(reason);
  expect(sentence.endsWith(advice)).toBe(true);
  expect(ended.status).toBe(1);
}
