import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { servingUrl } from '../../src/database/embedded/serving-login.ts';
import { projectPrisma, readMigrations } from '../../src/database/migrations/migration-files.ts';

const run = promisify(execFile);

/** The tree of the version under test. */
export const present = path.resolve(import.meta.dirname, '../..');

/** An earlier version of the service, in a folder of its own. */
export interface Version {
  readonly root: string;
  readonly revision: string;
  remove(): Promise<void>;
}

/** Returns the revision before the one that brought the latest migration; the present one, where there is none after the first. */
export async function revisionBefore(): Promise<string> {
  const migrations = await readMigrations(projectPrisma);
  // The first migration makes the database: what comes after it is upgraded to from the present revision.
  if (migrations.length === 1) return 'HEAD';
  const { stdout } = await run('git', ['log', '-1', '--format=%H', '--diff-filter=A', '--', 'prisma/migrations'], {
    cwd: present,
  });
  return `${stdout.trim()}^`;
}

/** Takes a revision out of the repository, with its Prisma client. It runs on the packages of this version. */
export async function checkOut(name: string): Promise<Version> {
  const { stdout } = await run('git', ['rev-parse', '--short', name], { cwd: present });
  const revision = stdout.trim();
  const root = await mkdtemp(path.join(tmpdir(), 'gateway-version-'));
  await run('sh', ['-c', `git archive ${revision} | tar -x -C ${root}`], { cwd: present });
  await symlink(path.join(present, 'node_modules'), path.join(root, 'node_modules'));
  await run(path.join(present, 'node_modules/.bin/prisma'), ['generate'], { cwd: root });
  return { root, revision, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Makes a platform of the sandbox with a version's own command, and returns how it authorizes itself. */
export async function createPlatformIn(root: string, databaseUrl: string, secretKey: string) {
  const args = ['run', '-s', 'ops', '--', 'platform', 'create', 'faults', '--sandbox', '--json'];
  const { stdout } = await run('npm', args, {
    cwd: root,
    env: { ...process.env, DATABASE_URL: servingUrl(databaseUrl), SECRET_KEY: secretKey, MIGRATE: 'off' },
  });
  return JSON.parse(stdout) as { readonly id: string; readonly authorization: string };
}
