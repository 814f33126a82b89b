import type { DocumentNode } from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { documentDigest, isHashOf, plainHash, type TrustedDocuments } from '../documents/trusted-documents.ts';
import { badRequest, failure, incompleteStatus } from '../failure.ts';

export interface SentOperation {
  /** The text of the document; absent or empty if only its hash is sent. */
  readonly query?: string | null | undefined;
  /** The hash of the document, in the format that GraphQL over HTTP defines (`sha256:…`). */
  readonly documentId?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

export interface OperationParams extends SentOperation {
  readonly query: string;
}

/** Looks up the text of a document if only its hash was sent. Refuses documents that the token may not send. */
export class SentDocuments {
  readonly #trusted: TrustedDocuments;

  constructor(trusted: TrustedDocuments) {
    this.#trusted = trusted;
  }

  /**
   * Returns an operation with the text of its document.
   * @throws GraphQLError if the operation has no document, or if its hash is unknown or does not match the text
   */
  async complete(sent: SentOperation, viewer: Viewer): Promise<OperationParams> {
    const hash = hashIn(sent);
    const { query } = sent;
    if (query) {
      if (hash !== undefined && !isHashOf(hash, query)) throw badRequest('provided sha does not match query');
      return { ...sent, query };
    }
    if (hash === undefined) throw badRequest('a request needs a query, or the documentId of a registered document');
    const text = maySend(viewer, [hash]) ? await this.#trusted.find(viewer.platformId, hash) : undefined;
    if (text === undefined) throw unknownHash(viewer);
    return { ...sent, query: text };
  }

  /** Returns whether the viewer's platform has registered a document and the viewer's token may send it. */
  async isRegistered(viewer: Viewer, document: DocumentNode): Promise<boolean> {
    return maySend(viewer, await this.#trusted.hashesOf(viewer.platformId, digestOf(document)));
  }

  /** Throws a GraphQLError (QUERY_NOT_IN_SAFELIST) unless `isRegistered` returns true. */
  async check(viewer: Viewer, document: DocumentNode): Promise<void> {
    if (await this.isRegistered(viewer, document)) return;
    const message = 'this token may send only registered documents, and this document is not registered';
    throw failure('QUERY_NOT_IN_SAFELIST', message, { status: 403 });
  }
}

function unknownHash({ trustedDocumentsOnly }: Viewer) {
  if (trustedDocumentsOnly) {
    const message = 'no document is registered with this hash, and this token may send only registered documents';
    return failure('PERSISTED_QUERY_NOT_IN_LIST', message, { status: 403 });
  }
  // After this error, Apollo's clients and urql send the text and stop sending hashes.
  return badRequest('PersistedQueryNotSupported', { code: 'PERSISTED_QUERY_NOT_SUPPORTED', ...incompleteStatus });
}

const digestOf = oncePer((document: DocumentNode) => documentDigest(document.loc?.source.body ?? ''));

function maySend({ documents }: Viewer, hashes: readonly string[]): boolean {
  return documents.length === 0 ? hashes.length > 0 : hashes.some((hash) => documents.includes(hash));
}

/** Returns an operation's hash, from `documentId` or from Apollo's extension, which other clients also use. */
function hashIn({ documentId, extensions }: SentOperation): string | undefined {
  if (documentId) return plainHash(documentId);
  const persisted = extensions?.persistedQuery;
  const hash = typeof persisted === 'object' && persisted !== null && 'sha256Hash' in persisted && persisted.sha256Hash;
  return typeof hash === 'string' && hash !== '' ? plainHash(hash) : undefined;
}
