import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { SecretBox, sealedWith } from '../../src/core/secret-box.ts';
import { readConfig } from '../../src/server/config.ts';

test('a sealed secret can be opened only with its key and for its owner, and only if it is unchanged', () => {
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

test('a new key encrypts while the previous one still decrypts, and a stored secret identifies its key', () => {
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

test('SECRET_KEY must be 32 bytes in base64 or hex', () => {
  const key = randomBytes(32);
  for (const text of [key.toString('base64'), key.toString('base64url'), key.toString('hex')])
    expect(readConfig({ SECRET_KEY: text }).SECRET_KEY).toEqual(key);
  for (const text of ['secret', key.toString('hex').slice(2), `${key.toString('base64')}A`])
    expect(() => readConfig({ SECRET_KEY: text })).toThrow(/SECRET_KEY must be 32 bytes/);
});
