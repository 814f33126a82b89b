import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, hkdfSync } from 'node:crypto';
import { boundedCache } from './bounded-cache.ts';
import { hyphenated } from './ids.ts';

/** AES key wrap with padding (RFC 5649): authenticated, with no nonce. Equal positions produce equal cursors. */
const algorithm = 'id-aes128-wrap-pad';
const keyBytes = 16;
const initialValue = Buffer.from('A65959A6', 'hex');
/** The maximum number of ciphers in each cache. Creating a cipher costs as much as using it ten times. */
const maxCiphers = 2_000;

/**
 * Encrypts positions in lists and in the feed as cursors, and decrypts them. From two unencrypted feed cursors, an app
 * could tell how active its platform is. Each list of each platform has its own key, derived from SECRET_KEY, so no
 * cursor is valid in another list or for another platform.
 *
 * A position is a string: an id, a number, a number and an id (`1764137000000:0199…`), or two numbers (`17:2`).
 */
export class Cursors {
  readonly #keys: readonly Buffer[];
  readonly #ciphers = boundedCache<Cipheriv>(maxCiphers);
  readonly #deciphers = boundedCache<Decipheriv>(maxCiphers);

  /** @param keys the encryption key, then any keys used only to decrypt. Without keys there are no cursors. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
  }

  write(list: string, platformId: string, position: string): string {
    const name = `${list} ${platformId}`;
    let cipher = this.#ciphers.get(name);
    if (!cipher) {
      const [key] = this.#keys;
      if (!key) throw new Error('cursors need SECRET_KEY');
      cipher = createCipheriv(algorithm, derivedKey(key, name), initialValue);
      this.#ciphers.set(name, cipher);
    }
    // Each call wraps its input independently.
    return cipher.update(bytesOf(position)).toString('base64url');
  }

  /** Returns the position in a cursor; undefined if the cursor was not created for this list and platform. */
  read(list: string, platformId: string, cursor: string): string | undefined {
    const bytes = Buffer.from(cursor, 'base64url');
    // Other encodings of the same bytes are not valid cursors.
    if (bytes.length > 32 || bytes.toString('base64url') !== cursor) return undefined;
    const name = `${list} ${platformId}`;
    for (const [number, key] of this.#keys.entries()) {
      const numbered = `${number} ${name}`;
      const decipher =
        this.#deciphers.get(numbered) ?? createDecipheriv(algorithm, derivedKey(key, name), initialValue);
      try {
        const position = positionIn(decipher.update(bytes));
        this.#deciphers.set(numbered, decipher);
        return position;
      } catch {
        // The cursor was made with another key. Discard the decipher, whose behavior is unspecified after a failure.
        this.#deciphers.delete(numbered);
      }
    }
    return undefined;
  }
}

function derivedKey(key: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `cursors ${name}`, keyBytes));
}

const [numberBytes, idBytes] = [8, 16];

function bytesOf(position: string): Buffer {
  if (position.length === 36) return idBytesOf(position);
  const [number = '', rest] = position.split(':');
  const head = Buffer.alloc(numberBytes);
  head.writeBigInt64BE(BigInt(number));
  if (rest === undefined) return head;
  if (rest.length === 36) return Buffer.concat([head, idBytesOf(rest)]);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(Number(rest));
  return Buffer.concat([head, tail]);
}

function idBytesOf(id: string): Buffer {
  return Buffer.from(id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24), 'hex');
}

function positionIn(bytes: Buffer): string | undefined {
  switch (bytes.length) {
    case idBytes:
      return idIn(bytes);
    case numberBytes:
      return `${bytes.readBigInt64BE()}`;
    case numberBytes + 4:
      return `${bytes.readBigInt64BE()}:${bytes.readUInt32BE(numberBytes)}`;
    case numberBytes + idBytes:
      return `${bytes.readBigInt64BE()}:${idIn(bytes.subarray(numberBytes))}`;
    default:
      return undefined;
  }
}

function idIn(bytes: Buffer): string {
  return hyphenated(bytes.toString('hex'));
}
