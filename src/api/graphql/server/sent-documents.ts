import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { oncePer } from '../../../core/once-per.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { documentDigest, isHashOf, plainHash, type TrustedDocuments } from '../documents/trusted-documents.ts';
import { badRequest, failure, incompleteStatus } from '../failure.ts';

export interface SentOperation {
  /** The text of the document; absent or empty if only its hash is sent. */
  readonly query?: string | null | undefined;
  /** The hash of a document in the form of GraphQL over HTTP (`sha256:…`). */
  readonly documentId?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

export interface OperationParams extends SentOperation {
  readonly query: string;
}

/** The capacity for automatic persisted queries, in characters. */
const rememberedSize = 2 ** 23;

/**
 * Finds the text of documents sent by hash: registered ones and, in development, those that a client has sent before
 * (Apollo's automatic persisted queries). Refuses documents that the token is not allowed to send.
 */
export class SentDocuments {
  readonly #trusted: TrustedDocuments;
  /** Automatic persisted queries, keyed by platform and hash; undefined if they are off. */
  readonly #automatic: LRUCache<string, string> | undefined;

  /** @param isAutomatic whether clients may store documents under their hashes without registering them */
  constructor(trusted: TrustedDocuments, isAutomatic: boolean) {
    this.#trusted = trusted;
    this.#automatic = isAutomatic
      ? new LRUCache({ maxSize: rememberedSize, sizeCalculation: (text, key) => text.length + key.length })
      : undefined;
  }

  /**
   * Returns an operation with its text.
   * @throws GraphQLError for an operation without a document, or a hash that is unknown or does not match the text
   */
  async complete(sent: SentOperation, viewer: Viewer): Promise<OperationParams> {
    const hash = hashIn(sent);
    const { query } = sent;
    if (query) {
      if (hash !== undefined && !isHashOf(hash, query)) throw badRequest('provided sha does not match query');
      if (hash !== undefined && !viewer.trustedDocumentsOnly)
        this.#automatic?.set(keyOf(viewer.platformId, hash), query);
      return { ...sent, query };
    }
    if (hash === undefined) throw badRequest('a request needs a query, or the documentId of a registered document');
    if (!maySend(viewer, [hash])) throw this.#unknown(viewer);
    const text =
      (await this.#trusted.find(viewer.platformId, hash)) ?? this.#automatic?.get(keyOf(viewer.platformId, hash));
    if (text === undefined) throw this.#unknown(viewer);
    return { ...sent, query: text };
  }

  /** Returns whether the viewer's platform has registered a document and the viewer's token may send it. */
  async isRegistered(viewer: Viewer, document: DocumentNode): Promise<boolean> {
    return maySend(viewer, await this.#trusted.hashesOf(viewer.platformId, digestOf(document)));
  }

  /** Refuses a document that is not registered. Throws GraphQLError QUERY_NOT_IN_SAFELIST. */
  async check(viewer: Viewer, document: DocumentNode): Promise<void> {
    if (await this.isRegistered(viewer, document)) return;
    const message = 'this token may send only registered documents, and this document is not registered';
    throw failure('QUERY_NOT_IN_SAFELIST', message, { status: 403 });
  }

  /** In Apollo's protocol, NotFound asks for the text, and NotSupported says that hashes are not supported. */
  #unknown({ trustedDocumentsOnly }: Viewer) {
    if (trustedDocumentsOnly) {
      const message = 'no document is registered with this hash, and this token may send only registered documents';
      return failure('PERSISTED_QUERY_NOT_IN_LIST', message, { status: 403 });
    }
    return this.#automatic
      ? badRequest('PersistedQueryNotFound', { code: 'PERSISTED_QUERY_NOT_FOUND', ...incompleteStatus })
      : badRequest('PersistedQueryNotSupported', { code: 'PERSISTED_QUERY_NOT_SUPPORTED', ...incompleteStatus });
  }
}

const digestOf = oncePer((document: DocumentNode) => documentDigest(document.loc?.source.body ?? ''));

function maySend({ documents }: Viewer, hashes: readonly string[]): boolean {
  return documents.length === 0 ? hashes.length > 0 : hashes.some((hash) => documents.includes(hash));
}

/** Returns an operation's hash: from GraphQL over HTTP, or from Apollo's extension, which other clients also use. */
function hashIn({ documentId, extensions }: SentOperation): string | undefined {
  if (documentId) return plainHash(documentId);
  const persisted = extensions?.persistedQuery;
  const hash = typeof persisted === 'object' && persisted !== null && 'sha256Hash' in persisted && persisted.sha256Hash;
  return typeof hash === 'string' && hash !== '' ? plainHash(hash) : undefined;
}

function keyOf(platformId: string, hash: string): string {
  return `${platformId} ${hash}`;
}
