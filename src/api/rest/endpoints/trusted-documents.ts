import { createRoute, z } from '@hono/zod-openapi';
import { plainHash, readManifest } from '../../graphql/documents/manifest.ts';
import { maxDocuments, type TrustedDocuments } from '../../graphql/documents/trusted-documents.ts';
import type { RestApp } from '../app.ts';
import { body, jsonResponse, managementEndpoint, noQuery, readErrors } from '../endpoint.ts';
import { time } from '../schemas/fields.ts';

export interface DocumentModules {
  readonly trusted: TrustedDocuments;
  /** Returns why the GraphQL API could never execute a document, or undefined. */
  readonly problemIn: (text: string) => string | undefined;
}

const tags = ['Trusted documents'];

const hash = z.string().describe('The SHA-256, SHA-1 or MD5 of the text, in hex.');

const Manifest = z
  .object({
    format: z.string().optional().describe('The format, for an Apollo manifest: apollo-persisted-query-manifest.'),
    version: z.int().min(0).max(100).optional().describe('The version of an Apollo manifest: 1.'),
    operations: z
      .array(
        z.looseObject({
          id: z.string().describe('The SHA-256 hash of `body`, in hex.'),
          body: z.string().describe('The text of the document.'),
        }),
      )
      .max(maxDocuments)
      .optional()
      .describe('The documents of an Apollo manifest.'),
  })
  .catchall(z.unknown())
  .openapi('DocumentManifest', {
    description:
      'A manifest as written by tools: an Apollo manifest, or an object that has the text of each document under its hash, as relay-compiler and GraphQL Code Generator write it.',
  });

const Registered = z
  .object({
    registered: z.int().min(0).max(maxDocuments).describe('The number of documents that were new.'),
    existing: z.int().min(0).max(maxDocuments).describe('The number of documents that were already registered.'),
  })
  .openapi('RegisteredDocuments', { description: 'The result of registering a manifest.' });

const DocumentList = z
  .object({
    data: z
      .array(
        z
          .object({ hash, createdAt: time('When the document was registered.') })
          .openapi('TrustedDocument', { description: 'A registered document.' }),
      )
      .openapi({ maxItems: maxDocuments })
      .describe('All registered documents, ordered by hash.'),
  })
  .openapi('TrustedDocumentList');

const register = createRoute({
  ...managementEndpoint({
    operationId: 'registerTrustedDocuments',
    tags,
    summary: 'Register documents',
    description:
      'From then on clients may send the hashes of these documents instead of their texts. If one of them cannot be executed, none is registered. Registered documents stay: repeating the request changes nothing.',
  }),
  method: 'post',
  path: '/trusted-documents',
  request: { query: noQuery, body: body(Manifest) },
  responses: { 200: jsonResponse(Registered, 'The documents are registered.'), ...readErrors(413, 415, 504) },
});

const list = createRoute({
  ...managementEndpoint({
    operationId: 'listTrustedDocuments',
    tags,
    summary: 'List registered documents',
    description: 'The hashes of all registered documents, without their texts.',
  }),
  method: 'get',
  path: '/trusted-documents',
  request: { query: noQuery },
  responses: { 200: jsonResponse(DocumentList, 'The documents.'), ...readErrors() },
});

const remove = createRoute({
  ...managementEndpoint({
    operationId: 'deleteTrustedDocument',
    tags,
    summary: 'Delete a registered document',
    description:
      'Clients that still send its hash are refused within ten seconds. Deleting an unknown one is not an error.',
  }),
  method: 'delete',
  path: '/trusted-documents/{hash}',
  request: { params: z.object({ hash }), query: noQuery },
  responses: { 204: { description: 'The document is no longer registered.' }, ...readErrors(504) },
});

/** Adds the endpoints of trusted documents (decision 74). */
export function trustedDocumentEndpoints(app: RestApp, { trusted, problemIn }: DocumentModules): void {
  app.openapi(register, async (context) => {
    const documents = readManifest(context.req.valid('json'));
    const registered = await trusted.register(context.get('viewer'), documents, problemIn);
    return context.json({ registered, existing: documents.length - registered }, 200);
  });

  app.openapi(list, async (context) => {
    const rows = await trusted.list(context.get('viewer'));
    return context.json({ data: rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })) }, 200);
  });

  app.openapi(remove, async (context) => {
    await trusted.delete(context.get('viewer'), plainHash(context.req.valid('param').hash));
    return context.body(null, 204);
  });
}
