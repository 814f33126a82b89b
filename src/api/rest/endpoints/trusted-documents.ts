import { createRoute, z } from '@hono/zod-openapi';
import { plainHash, readManifest } from '../../graphql/documents/manifest.ts';
import { maxDocuments, type TrustedDocuments } from '../../graphql/documents/trusted-documents.ts';
import type { RestApp } from '../app.ts';
import { body, jsonResponse, managementEndpoint, noQuery, readErrors } from '../endpoint.ts';
import { time } from '../schemas/money.ts';

/** The dependencies of the endpoints of trusted documents. */
export interface DocumentModules {
  readonly trusted: TrustedDocuments;
  /** Returns why the GraphQL API could never execute a document, or undefined. */
  readonly problemIn: (text: string) => string | undefined;
}

const tags = ['Trusted documents'];

const hash = z.string().describe('The SHA-256, SHA-1 or MD5 of the text, in hex.');

const Manifest = z
  .object({
    format: z.string().optional().describe('apollo-persisted-query-manifest, where it is one.'),
    version: z.int().min(0).max(100).optional().describe('1, in a manifest of Apollo.'),
    operations: z
      .array(
        z.looseObject({
          id: z.string().describe('The SHA-256 of the body.'),
          body: z.string().describe('The text of the document.'),
        }),
      )
      .max(maxDocuments)
      .optional()
      .describe('The documents of a manifest of Apollo.'),
  })
  .catchall(z.unknown())
  .openapi('DocumentManifest', {
    description:
      'A manifest as build tools write it: of Apollo, or an object with the text of each document under its hash, as relay-compiler and GraphQL Code Generator write it.',
  });

const Registered = z
  .object({
    registered: z.int().min(0).max(maxDocuments).describe('How many documents are new.'),
    existing: z.int().min(0).max(maxDocuments).describe('How many were already registered.'),
  })
  .openapi('RegisteredDocuments', { description: 'The result of registering a manifest.' });

const DocumentList = z
  .object({
    data: z
      .array(
        z
          .object({ hash, createdAt: time('When it was registered.') })
          .openapi('TrustedDocument', { description: 'A registered document.' }),
      )
      .openapi({ maxItems: maxDocuments })
      .describe('All of them, in the order of their hashes.'),
  })
  .openapi('TrustedDocumentList');

const register = createRoute({
  ...managementEndpoint({
    operationId: 'registerTrustedDocuments',
    tags,
    summary: 'Register documents',
    description:
      'Clients can then send the hashes of these documents instead of their texts. If one of them cannot be executed, none is registered. Sending registered documents again changes nothing.',
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
