import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Currency, Money } from '../../../core/currencies.ts';
import { type IdType, publicId } from '../../../core/ids.ts';
import type { Permission } from '../../../infra/database/generated/client/client.ts';
import type PrismaTypes from '../../../infra/database/generated/pothos.ts';
import { getDatamodel } from '../../../infra/database/generated/pothos.ts';
import type { Context } from '../context.ts';
import { failure } from '../failure.ts';
import ReadingPlugin from '../reading/plugin.ts';
import { unbatched } from '../reading/stock.ts';
import WordsPlugin from './words.ts';

/** The types behind the schema. */
export interface SchemaConfig {
  Context: Context;
  PrismaTypes: PrismaTypes;
  AuthScopes: { permission: Permission };
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    BigInt: { Input: bigint; Output: bigint };
    Decimal: { Input: string; Output: string | { toFixed(): string } };
    DateTime: { Input: Date; Output: Date };
    Date: { Input: string; Output: string | Date };
    CurrencyCode: { Input: string; Output: string };
    PathSegment: { Input: string | number; Output: string | number };
  };
  Objects: { Currency: Currency; Money: Money };
  Connection: { readonly totalCount: number };
}

/** The builder of the schema. Its types are in the files of their nouns. */
export const builder = new SchemaBuilder<SchemaConfig>({
  plugins: [ReadingPlugin, ScopeAuthPlugin, RelayPlugin, PrismaPlugin, WordsPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: (context) => ({ permission: (permission) => context.viewer.permissions.includes(permission) }),
    unauthorizedError: () => failure('FORBIDDEN', 'this token does not have the permission that this needs'),
  },
  relay: {
    encodeGlobalID: (type, id) => publicId(type as IdType, String(id)),
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    idFieldOptions: { description: 'Its public id: its type, a colon, a UUID.' },
    edgesFieldOptions: { nullable: { list: false, items: false }, description: 'Its rows, each with its cursor.' },
    nodesOnConnection: { description: 'Its rows, without their cursors.' },
    pageInfoFieldOptions: { description: 'Where it lies in the list.' },
    nodeFieldOptions: { nullable: false, description: 'The row.' },
    cursorFieldOptions: { description: "The row's position in the list: a page continues after or before it." },
    hasNextPageFieldOptions: { description: 'Whether the list goes on after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has something before this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first row; null on an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last row; null on an empty page.' },
    nodeTypeOptions: { description: 'Anything with an id of its own that can be read again by it.' },
    pageInfoTypeOptions: { description: 'Where a page lies in its list.' },
  },
  prisma: {
    client: ({ payments }) => unbatched(payments.database.prisma),
    dmmf: getDatamodel(),
    onUnusedQuery: null,
  },
});

builder.queryType({
  description: 'What can be read. Every list is a connection, newest first unless sortOrder says otherwise.',
  authScopes: { permission: 'VIEW' },
});
builder.mutationType({
  description:
    'What can be done. Every mutation takes an idempotencyKey and answers its success or a refusal as data. What it made or moved is its answer. What was there before, but for its id, and what a document asks beside that, such as the customer of a payment, is read and needs VIEW.',
});
builder.subscriptionType({
  description: 'What can be watched: every change once and in order, over WebSocket (graphql-transport-ws) and SSE.',
  authScopes: { permission: 'VIEW' },
});
