import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClientTokens } from '../src/domain/access/tokens/credentials.ts';
import { openDatabase } from '../src/infra/database/database.ts';
import { ConfigError } from '../src/server/config.ts';
import { findKeys } from '../src/server/start/key-file.ts';
import { runToEnd } from './setup/child-gateway.ts';

const root = path.resolve(import.meta.dirname, '..');
let directory: string;
const settings = () =>
  ({ CLIENT_TOKEN_KEY: undefined, SECRET_KEY: undefined, NODE_ENV: 'development', DATA_DIR: directory }) as const;

/** A program that kills itself just before it writes to a file that it has created. */
const dieWhileWriting = `
  const fs = require('node:fs/promises');
  fs.writeFile = async (file, content, { flag = 'w', mode }) => {
    await fs.open(file, flag, mode);
    process.kill(process.pid, 'SIGKILL');
  };
  require('node:module').syncBuiltinESMExports();
  const [other, directory] = process.argv.slice(1);
  const settings = { NODE_ENV: 'development', DATA_DIR: directory, [other]: 'given' };
  import('./src/server/start/key-file.ts').then((keys) => keys.findKeys(settings));
`;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'key-files-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe.each([
  ['client-token.key', 'CLIENT_TOKEN_KEY', 'base64url', '', { SECRET_KEY: Buffer.alloc(32, 7) }],
  ['secret.key', 'SECRET_KEY', 'base64', '\n', { CLIENT_TOKEN_KEY: 'given' }],
] as const)('%s', (name, setting, encoding, end, other) => {
  const find = async () => (await findKeys({ ...settings(), ...other }))[setting];
  const file = () => path.join(directory, name);

  test('concurrent first calls get the same key, and only the current user can read its file', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => find()));
    for (const key of keys) expect(key).toEqual(keys[0]);
    const stored = await readFile(file(), 'utf8');
    expect(stored.endsWith(end)).toBe(true);
    expect(Buffer.from(stored, 'base64url').toString('base64url')).toBe(stored.trimEnd());
    expect(Buffer.from(stored, 'base64url')).toHaveLength(32);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await find()).toEqual(keys[0]);
  });

  test('a file written by an earlier version is used unchanged', async () => {
    const bytes = Buffer.alloc(32, 0xfb);
    await writeFile(file(), bytes.toString(encoding) + end);
    expect(await find()).toEqual(name === 'secret.key' ? bytes : bytes.toString(encoding));
  });

  test.each(['', '\n', 'short', `${'A'.repeat(43)} A`, 'A'.repeat(64)])('%j is refused', async (content) => {
    await writeFile(file(), content);
    const error = await find().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(
      new RegExp(`${file()} should hold 32 bytes.*restore it; or remove it.*; or set ${setting}`),
    );
    expect(await readFile(file(), 'utf8')).toBe(content);
  });

  test('a folder in place of the key file is refused', async () => {
    await mkdir(file());
    await expect(find()).rejects.toThrow(`${file()} should hold 32 bytes`);
  });

  test('a process that dies between creating the file and writing it leaves no key file', async () => {
    const args = ['-e', dieWhileWriting, Object.keys(other)[0] ?? '', directory];
    const died = spawnSync(process.execPath, args, { cwd: root });
    expect(died.signal).toBe('SIGKILL');
    await expect(readFile(file())).rejects.toMatchObject({ code: 'ENOENT' });
    const key = await find();
    expect(key).toHaveLength(name === 'secret.key' ? 32 : 43);
    expect(await find()).toEqual(key);
  });
});

test('a secret key in the settings is used unchanged, and production never creates one', async () => {
  const given = Buffer.alloc(32, 7);
  expect((await findKeys({ ...settings(), SECRET_KEY: given })).SECRET_KEY).toBe(given);
  expect((await findKeys({ ...settings(), NODE_ENV: 'production' })).SECRET_KEY).toBe(undefined);
});

test('an empty client-token.key prevents startup, with a message that names the file', async () => {
  const file = path.join(directory, 'client-token.key');
  await writeFile(file, '');
  const { status, stderr } = runToEnd({ DATA_DIR: directory });
  expect(stderr).toBe(
    `Invalid settings:\n  - ${file} should hold 32 bytes in base64url (43 characters), but does not: restore it; or remove it, so that the next start creates a new key (anything signed or encrypted with the old key is then refused); or set CLIENT_TOKEN_KEY\n`,
  );
  expect(status).toBe(1);
});

test('a key that is too short to sign client tokens is refused', async () => {
  const database = openDatabase({ url: 'postgres://127.0.0.1:1/none', role: 'gateway_work' });
  for (const key of ['', 'k'.repeat(31)]) {
    expect(() => new ClientTokens(database, key)).toThrow('at least 32 characters');
  }
  expect(new ClientTokens(database, 'k'.repeat(32))).toBeDefined();
  expect(new ClientTokens(database, undefined)).toBeDefined();
  await database.close();
});
