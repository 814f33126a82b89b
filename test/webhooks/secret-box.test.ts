import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SecretBox, sealedWith } from '../../src/core/secret-box.ts';
import { readConfig } from '../../src/server/config.ts';
import { findSecretKey } from '../../src/server/start/key-file.ts';

test('a sealed secret opens only with its key, for its owner, and unchanged', () => {
  const box = new SecretBox(randomBytes(32));
  const sealed = box.seal('whsec_secret', 'one');
  expect(box.open(sealed, 'one')).toBe('whsec_secret');
  expect(box.seal('whsec_secret', 'one').equals(sealed)).toBe(false);
  expect(() => box.open(sealed, 'two')).toThrow();
  expect(() => new SecretBox(randomBytes(32)).open(sealed, 'one')).toThrow();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => box.open(changed, 'one')).toThrow();
  }
  expect(() => box.open(sealed.subarray(0, 20), 'one')).toThrow();
});

test('a new key encrypts while the previous one still decrypts, and a stored secret names its key', () => {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  const [old, both, fresh] = [new SecretBox(before), new SecretBox(after, [before]), new SecretBox(after)];
  const sealed = old.seal('whsec_secret', 'one');
  expect(both.open(sealed, 'one')).toBe('whsec_secret');
  expect(() => fresh.open(sealed, 'one')).toThrow(
    `encrypted with the key ${old.keyId}, which this instance does not have`,
  );
  const anew = both.seal('whsec_secret', 'one');
  expect(fresh.open(anew, 'one')).toBe('whsec_secret');
  expect([sealedWith(sealed), sealedWith(anew)]).toEqual([old.keyId, fresh.keyId]);
  expect(old.keyId).not.toBe(fresh.keyId);
});

test('outside of production a key is created once, readable by its owner only, and shared by all', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'secret-key-'));
  const settings = { SECRET_KEY: undefined, NODE_ENV: 'development', DATA_DIR: directory } as const;
  const keys = await Promise.all([findSecretKey(settings), findSecretKey(settings), findSecretKey(settings)]);
  expect(keys[0]).toHaveLength(32);
  expect(keys[1]).toEqual(keys[0]);
  expect(keys[2]).toEqual(keys[0]);
  expect(await findSecretKey(settings)).toEqual(keys[0]);
  const file = path.join(directory, 'secret.key');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(file, 'utf8'), 'base64')).toEqual(keys[0]);

  const given = randomBytes(32);
  expect(await findSecretKey({ ...settings, SECRET_KEY: given })).toBe(given);
  expect(await findSecretKey({ ...settings, NODE_ENV: 'production' })).toBe(undefined);
  await chmod(file, 0o600);
  await writeFile(file, 'short');
  await expect(findSecretKey(settings)).rejects.toThrow(/secret\.key should hold 32 bytes/);
  await rm(directory, { recursive: true });
});

test('SECRET_KEY must be 32 bytes in base64 or hex', () => {
  const key = randomBytes(32);
  for (const text of [key.toString('base64'), key.toString('base64url'), key.toString('hex')])
    expect(readConfig({ SECRET_KEY: text }).SECRET_KEY).toEqual(key);
  for (const text of ['secret', key.toString('hex').slice(2), `${key.toString('base64')}A`])
    expect(() => readConfig({ SECRET_KEY: text })).toThrow(/SECRET_KEY must be 32 bytes/);
});
