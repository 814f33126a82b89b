import { z } from '@hono/zod-openapi';
import {
  maxDocuments,
  plainHash,
  readManifest,
  type TrustedDocuments,
} from '../../graphql/documents/trusted-documents.ts';
import type { Endpoints } from '../endpoint.ts';
import { responseObject, string, time } from '../schemas/fields.ts';

export interface DocumentModules {
  readonly trusted: TrustedDocuments;
  /** Returns the reason why the GraphQL API can never execute a document, or undefined if it can. */
  readonly problemIn: (text: string) => string | undefined;
}

const hash = string('The SHA-256, SHA-1 or MD5 of the text, in hex.');

const Manifest = z
  .object({
    format: string('Only in an Apollo manifest: its format, apollo-persisted-query-manifest.').optional(),
    version: z.int().min(0).max(100).optional().describe('Only in an Apollo manifest: its version, 1.'),
    operations: z
      .array(
        z.looseObject({
          id: string('The SHA-256 hash of `body`, in hex.'),
          body: string('The text of the document.'),
        }),
      )
      .max(maxDocuments)
      .optional()
      .describe('The documents of an Apollo manifest.'),
  })
  .catchall(z.unknown())
  .openapi('DocumentManifest', {
    description:
      'A manifest in a common format: an Apollo manifest or, as written by relay-compiler and GraphQL Code Generator, an object that maps hashes to documents.',
  });

const Registered = responseObject('RegisteredDocuments', {
  registered: z.int().min(0).max(maxDocuments).describe('The number of documents that were new.'),
  existing: z.int().min(0).max(maxDocuments).describe('The number of documents that were already registered.'),
}).describe('The result of registering a manifest.');

const DocumentList = responseObject('TrustedDocumentList', {
  data: z
    .array(
      responseObject('TrustedDocument', { hash, createdAt: time('When the document was registered.') }).describe(
        'A registered document.',
      ),
    )
    .openapi({ maxItems: maxDocuments })
    .describe('All registered documents, ordered by hash.'),
});

/** Adds the trusted document endpoints. */
export function trustedDocumentEndpoints(endpoints: Endpoints, { trusted, problemIn }: DocumentModules): void {
  endpoints.serve('registerTrustedDocuments', {
    summary: 'Register documents',
    description:
      'Once a document is registered, clients may send its hash instead of its text. If one of the documents cannot be executed, none is registered. Documents that are already registered stay registered, so repeating the request changes nothing.',
    at: 'post /trusted-documents',
    access: 'MANAGE',
    body: Manifest,
    answer: [Registered, 'The documents are registered.'],
    errors: [413, 415, 504],
    run: async (manifest, context) => {
      const documents = readManifest(manifest);
      const registered = await trusted.register(context.get('viewer'), documents, problemIn);
      return { registered, existing: documents.length - registered };
    },
  });

  endpoints.serve('listTrustedDocuments', {
    summary: 'List registered documents',
    description: 'The hashes of all registered documents, without the documents themselves.',
    at: '/trusted-documents',
    access: 'MANAGE',
    answer: [DocumentList, 'The documents.'],
    run: async (_given, context) => {
      const rows = await trusted.list(context.get('viewer'));
      return { data: rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })) };
    },
  });

  endpoints.serve('deleteTrustedDocument', {
    summary: 'Delete a registered document',
    description:
      'After at most ten seconds, clients that send only the hash are refused. Deleting an unknown hash is not an error.',
    at: 'delete /trusted-documents/{hash}',
    access: 'MANAGE',
    params: z.object({ hash }),
    answer: [null, 'The document is no longer registered.'],
    errors: [504],
    run: (given, context) => trusted.delete(context.get('viewer'), plainHash(given.hash)),
  });
}
