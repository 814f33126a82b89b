import SchemaBuilder, { type InputFieldMap } from '@pothos/core';
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
import '../reading/words.ts';

interface SchemaConfig {
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

export type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>;
export type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

/** The schema builder. Each type is defined in the file for its subject. */
export const builder = new SchemaBuilder<SchemaConfig>({
  plugins: [ReadingPlugin, ScopeAuthPlugin, RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: (context) => ({ permission: (permission) => context.viewer.permissions.includes(permission) }),
    unauthorizedError: () => failure('FORBIDDEN', 'this token lacks a permission that this field needs'),
  },
  relay: {
    encodeGlobalID: (type, id) => publicId(type as IdType, String(id)),
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    idFieldOptions: { description: "The object's public id: its type, a colon and a UUID." },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The items on the page, each with its cursor.',
    },
    nodesOnConnection: { description: 'The items on the page, without their cursors.' },
    pageInfoFieldOptions: {
      description: 'The cursors at both ends of the page, and whether the list continues beyond them.',
    },
    nodeFieldOptions: { nullable: false, description: 'The item.' },
    cursorFieldOptions: {
      description: "The item's position in the list. Pass it as `after` or `before` to continue from there.",
    },
    hasNextPageFieldOptions: { description: 'Whether the list has items after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has items before this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first item on the page; null if the page is empty.' },
    endCursorFieldOptions: { description: 'The cursor of the last item on the page; null if the page is empty.' },
    nodeTypeOptions: { description: 'An object with a public id. It can be read with `node`.' },
    pageInfoTypeOptions: { description: 'The position of a page in its list.' },
  },
  prisma: { client: ({ payments }) => unbatched(payments.database.prisma), dmmf: getDatamodel(), onUnusedQuery: null },
});

builder.queryType({
  description:
    'Everything you can read. Lists are Relay connections, newest first unless `sortOrder` is ASC; the event feed is oldest first.',
  authScopes: { permission: 'VIEW' },
});
builder.mutationType({
  description:
    "Everything you can do. Every mutation accepts an `idempotencyKey` (transfers require one) and returns its success payload or its refusal as data. A token without VIEW can select what the mutation created, or the payment that it started, approved or rejected. For any other object that the mutation changed, the token can select only the id. Everything else, such as a payment's customer, needs VIEW.",
});
builder.subscriptionType({
  description:
    'Everything you can subscribe to, over WebSocket (graphql-transport-ws) or server-sent events. Each change is delivered once and in order.',
  authScopes: { permission: 'VIEW' },
});

/** The options for a required argument or input field. Usage: `t.field(required(Type, 'Its description.'))`. */
export const required = <Type>(type: Type, description: string) => ({ type, required: true, description }) as const;

/** Adds an enum with the given values and their descriptions. */
export const enumOf = <Name extends string>(
  name: string,
  description: string,
  meanings: { readonly [Value in Name]: string },
) =>
  builder.enumType(name, {
    description,
    values: Object.fromEntries(
      Object.entries<string>(meanings).map(([value, meaning]) => [value, { description: meaning }]),
    ) as { readonly [Value in Name]: { readonly description: string } },
  });

/** Adds an input type for `what`, in which clients must set exactly one field. */
export const oneOf = <Fields extends InputFieldMap>(name: string, what: string, fields: (t: InputBuilder) => Fields) =>
  builder.inputType(name, { description: `${what}: set exactly one field.`, isOneOf: true, fields });
