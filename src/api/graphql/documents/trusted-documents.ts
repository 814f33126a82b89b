import { hash as digest } from 'node:crypto';
import { stripIgnoredCharacters } from 'graphql';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { invalid } from '../../../core/refusal.ts';
import { lockPlatform } from '../../../core/tenant.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { requirePermission } from '../../../domain/access/operations.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { TrustedDocument } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import { inTransaction } from '../../../infra/database/transaction.ts';

/** The maximum number of documents per platform: enough for many versions of several apps. */
export const maxDocuments = 10_000;

/** How long an instance trusts a cache entry for a known and for an unknown document, in milliseconds. */
const cacheMs = { found: 10_000, absent: 1_000 } as const;
/** The capacity of the cache, in characters. */
const cacheSize = 2 ** 24;
const entrySize = 200;

const registerStatement = statement<{ hash: string }>(
  'register_documents',
  `insert into trusted_document (platform_id, hash, text, digest)
   select $1, * from unnest($2::text[], $3::text[], $4::bytea[]) on conflict do nothing returning hash`,
);

/** A cache entry: a document's text and the hashes under which it is registered. An unknown document has neither. */
interface Known {
  readonly text: string | undefined;
  readonly hashes: readonly string[];
}

/** Returns the SHA-256 of a document without the tokens that GraphQL ignores: white space, commas and comments. */
export function documentDigest(text: string): Buffer {
  return digest('sha256', stripIgnoredCharacters(text), 'buffer');
}

/** The documents that platforms have registered. A document's text never changes. */
export class TrustedDocuments {
  readonly #database: Database;
  readonly #known = new LRUCache<string, Known>({
    maxSize: cacheSize,
    sizeCalculation: ({ text }) => entrySize + (text?.length ?? 0),
  });

  constructor(database: Database) {
    this.#database = database;
  }

  async find(platformId: string, hash: string): Promise<string | undefined> {
    // A string that is not a hash is not looked up, because it might contain characters that Postgres rejects.
    return isHash(hash) ? (await this.#lookUp(platformId, `hash ${hash}`, { hash })).text : undefined;
  }

  /** Returns the hashes under which a platform has registered the document with this digest (see `documentDigest`). */
  async hashesOf(platformId: string, digest: Buffer): Promise<readonly string[]> {
    const where = { digest: new Uint8Array(digest) };
    return (await this.#lookUp(platformId, `digest ${digest.toString('base64')}`, where)).hashes;
  }

  async #lookUp(
    platformId: string,
    name: string,
    where: { readonly hash: string } | { readonly digest: Uint8Array<ArrayBuffer> },
  ): Promise<Known> {
    const key = `${platformId} ${name}`;
    const known = this.#known.get(key);
    if (known) return known;
    const { trustedDocument } = this.#database.prisma;
    const query = { where: { platformId, ...where }, select: { text: true, hash: true } };
    const rows = await asPlatform(platformId, () => trustedDocument.findMany(query));
    const found = { text: rows[0]?.text, hashes: rows.map(({ hash }) => hash) };
    this.#known.set(key, found, { ttl: rows.length === 0 ? cacheMs.absent : cacheMs.found });
    return found;
  }

  /**
   * Registers documents and returns how many were new.
   * @param problemIn returns why a document cannot be executed, or undefined if it can
   * @throws Refusal FORBIDDEN, or INVALID_INPUT if a document cannot be executed or there would be too many. If it
   *   throws, no document is registered
   */
  async register(
    caller: Caller,
    documents: readonly HashedDocument[],
    problemIn: (text: string) => string | undefined,
  ): Promise<number> {
    requirePermission(caller, 'MANAGE');
    for (const { hash, text } of documents) {
      const problem = problemIn(text);
      if (problem !== undefined) throw invalid(`document ${hash}: ${problem}`);
    }
    const { platformId } = caller;
    const columns = [
      documents.map(({ hash }) => hash),
      documents.map(({ text }) => text),
      documents.map(({ text }) => documentDigest(text)),
    ];
    const added = await inTransaction(this.#database, async ({ client, prisma: { trustedDocument } }) => {
      await lockPlatform(client, caller);
      const { length } = await registerStatement(client, platformId, ...columns);
      if (length > 0 && (await trustedDocument.count({ where: { platformId } })) > maxDocuments) {
        const message = `a platform can register at most ${maxDocuments} documents: delete those of app versions that are no longer in use`;
        throw invalid(message);
      }
      return length;
    });
    this.#forget(platformId);
    return added;
  }

  /** Deletes a document if it is registered. Throws Refusal FORBIDDEN if the caller lacks MANAGE. */
  async delete(caller: Caller, hash: string): Promise<void> {
    requirePermission(caller, 'MANAGE');
    if (!isHash(hash)) return;
    const { platformId } = caller;
    await inTransaction(this.#database, ({ prisma }) =>
      prisma.trustedDocument.deleteMany({ where: { platformId, hash } }),
    );
    this.#forget(platformId);
  }

  /** Returns all documents of the caller's platform, ordered by hash. */
  list({ platformId }: Caller): Promise<Pick<TrustedDocument, 'hash' | 'createdAt'>[]> {
    return this.#database.prisma.trustedDocument.findMany({
      where: { platformId },
      select: { hash: true, createdAt: true },
      orderBy: { hash: 'asc' },
    });
  }

  /** Drops this instance's cache entries for a platform. The entries of other instances expire on their own. */
  #forget(platformId: string): void {
    for (const key of this.#known.keys()) if (key.startsWith(platformId)) this.#known.delete(key);
  }
}

/** A document and the hash by which clients refer to it. */
type HashedDocument = Pick<TrustedDocument, 'hash' | 'text'>;

/** The manifest written by @apollo/generate-persisted-query-manifest and by Apollo's Kotlin and iOS tools. */
const apolloManifest = z
  .object({
    format: z.literal('apollo-persisted-query-manifest'),
    version: z.literal(1),
    operations: z.array(z.object({ id: z.string(), body: z.string() })),
  })
  .transform(({ operations }) => operations.map(({ id, body }) => ({ hash: id, text: body })));

/** Documents by hash, as written by relay-compiler and GraphQL Code Generator (`persistedDocuments`). */
const textsByHash = z
  .record(z.string(), z.string())
  .transform((texts) => Object.entries(texts).map(([hash, text]) => ({ hash, text })));

const algorithms: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha1', 64: 'sha256' };

/** Reads a manifest in any known format. Throws INVALID_INPUT if the format is unknown or a hash is wrong. */
export function readManifest(json: object): readonly HashedDocument[] {
  const { data: documents } = z.union([apolloManifest, textsByHash]).safeParse(json);
  if (!documents)
    throw invalid(
      "unknown manifest format: expected Apollo's format (format, version, and operations with id and body), or an object that maps hashes to documents, as written by Relay and GraphQL Code Generator",
    );
  return documents.map(({ hash: given, text }) => {
    const hash = plainHash(given);
    if (!isHashOf(hash, text))
      throw invalid(`${JSON.stringify(given.slice(0, 80))} is not the SHA-256, SHA-1 or MD5 of its document, in hex`);
    return { hash, text };
  });
}

/** Returns a hash in its stored form: lower case, without the GraphQL over HTTP prefix (`sha256:`). */
export function plainHash(given: string): string {
  return given.replace(/^sha256:/, '').toLowerCase();
}

function isHash(text: string): boolean {
  return text.length in algorithms && /^[0-9a-f]+$/.test(text);
}

/** Checks whether a hash matches a document's text. The length of the hash determines the algorithm. */
export function isHashOf(hash: string, text: string): boolean {
  const algorithm = algorithms[hash.length];
  return algorithm !== undefined && digest(algorithm, text, 'hex') === hash;
}
