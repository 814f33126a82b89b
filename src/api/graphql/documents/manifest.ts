import { hash as digest } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../../core/refusal.ts';

/** A document, and the hash of its text by which clients refer to it. */
export interface HashedDocument {
  readonly hash: string;
  readonly text: string;
}

/** The manifest written by @apollo/generate-persisted-query-manifest and the Kotlin and iOS tools. */
const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** Texts by hash, as written by relay-compiler and GraphQL Code Generator's client preset (`persistedDocuments`). */
const textsByHash = z.record(z.string(), z.string());

const algorithms: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha1', 64: 'sha256' };

/** Reads a manifest in any known format. Throws INVALID_INPUT for any other, or if a name is not its text's hash. */
export function readManifest(json: object): readonly HashedDocument[] {
  return documentsIn(json).map(({ hash: given, text }) => {
    const hash = plainHash(given);
    if (!isHashOf(hash, text)) {
      throw new Refusal(
        'INVALID_INPUT',
        `${JSON.stringify(given.slice(0, 80))} is not the SHA-256, SHA-1 or MD5 of its document, in hex`,
      );
    }
    return { hash, text };
  });
}

function documentsIn(json: object): readonly HashedDocument[] {
  const apollo = apolloManifest.safeParse(json);
  if (apollo.success) return apollo.data.operations.map(({ id, body }) => ({ hash: id, text: body }));
  const texts = textsByHash.safeParse(json);
  if (texts.success) return Object.entries(texts.data).map(([hash, text]) => ({ hash, text }));
  throw new Refusal(
    'INVALID_INPUT',
    'unknown manifest format: expected that of Apollo (format, version, and operations with id and body), or an object that maps hashes to texts, as Relay and GraphQL Code Generator write it',
  );
}

/** Returns a hash in its stored form: lower case, without the GraphQL over HTTP prefix (`sha256:`). */
export function plainHash(given: string): string {
  return given.replace(/^sha256:/, '').toLowerCase();
}

/** Returns whether a text has the form of a document hash in hex. */
export function isHash(text: string): boolean {
  return text.length in algorithms && /^[0-9a-f]+$/.test(text);
}

/** Returns whether a text has this hash. The hash's length determines the algorithm. */
export function isHashOf(hash: string, text: string): boolean {
  const algorithm = algorithms[hash.length];
  return algorithm !== undefined && digest(algorithm, text, 'hex') === hash;
}
