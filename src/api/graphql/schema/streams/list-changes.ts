import { isDeepStrictEqual } from 'node:util';
import type { InputObjectRef } from '@pothos/core';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import { oncePer } from '../../../../core/once-per.ts';
import { fieldName } from '../../../../infra/database/rows.ts';
import { typeNameOf } from '../../reading/feed-reads.ts';
import { readAround } from '../../reading/planned.ts';
import { plainReadText } from '../../reading/reads.ts';
import { runField } from '../../reading/run.ts';
import { made, type RowList } from '../../reading/words.ts';
import { builder, enumOf, type Types } from '../builder.ts';
import { accounts } from '../customers/account.ts';
import { customers } from '../customers/customer.ts';
import { AccountFilter, CustomerFilter, QuoteFilter, TransactionFilter } from '../filters.ts';
import { edges, listArgs, type RowType } from '../list.ts';
import { Account, Customer, Quote, Transaction } from '../nouns.ts';
import { quotes } from '../payments/quote.ts';
import { transactions } from '../payments/transaction.ts';
import { afterDescription } from './stream.ts';
import { type ListArguments, type ListChange, type ListMessage, maxWaitMs, watchList } from './watch-list.ts';

const ListOperationType = enumOf('ListOperation', 'How a change affects a live list.', {
  ENTER: 'The row has entered the list: it is new, or did not match the filter before.',
  UPDATE: 'The row has changed and is still in the list.',
  LEAVE: 'The row no longer matches the filter.',
});

function followList<Filter extends object>(
  type: RowType<unknown>,
  list: RowList<Types>,
  filter: InputObjectRef<Types, Filter>,
): void {
  const name = type.name.toLowerCase();
  const Changes = changesType(type, list, filter);
  builder.subscriptionField(`${name}Changes`, (t) =>
    t.field({
      type: Changes,
      description: `A live list of ${name}s: its first page, then every change that affects it. The filter is the same as for the ${name}s query. The page may already reflect a change that the stream sends later, so ignore a row unless its \`version\` is higher than that of your copy.`,
      args: {
        filter: t.arg({
          type: filter,
          description:
            "Which rows to include, as in the list's query. Conditions on data outside the row, such as the UMA address of a quote's sender, are refused with INVALID_INPUT.",
        }),
        snapshot: t.arg.boolean({
          required: true,
          defaultValue: true,
          description: 'Whether the first message contains a page of the list. If `after` is given, it never does.',
        }),
        waitMs: t.arg.int({
          required: true,
          defaultValue: 0,
          description: `How long, in milliseconds (0 to ${maxWaitMs}), to collect changes into one message. The message contains each changed row once, in its latest state.`,
        }),
        after: t.arg.string({ description: afterDescription }),
      },
      // These are the arguments declared above. The compiler cannot infer that through the filter's type.
      subscribe: (_root, args, context) => watchList(context, list.read, args as unknown as ListArguments),
      resolve: (message) => message,
    }),
  );
}

function changesType<Filter>(
  type: RowType<unknown>,
  { connection, read }: RowList<Types>,
  filter: InputObjectRef<Types, Filter>,
) {
  const { name: Name } = type;
  const name = Name.toLowerCase();
  const edge = edges.get(type);
  if (!edge) throw new Error(`${Name} has no list`);
  const Change = builder.objectRef<ListChange>(`${Name}Change`).implement({
    description: `A change in a live list of ${name}s.`,
    fields: (t) => ({
      op: t.expose('op', { type: ListOperationType, description: 'How the change affects the list.' }),
      changed: t.stringList({
        description:
          'The names of the `node` fields that changed; empty for a new row. Lists and related objects with their own ids are never included.',
        resolve: ({ before, node }, _args, _context, { schema }) => {
          const object = schema.getType(typeNameOf(read.model, node));
          return before && isObjectType(object) ? changedFields(schema, object, before, node) : [];
        },
      }),
      node: t.field({
        type,
        description: 'The row as it was after this change, even if it has left the list.',
        // The node is a row of the model, as written by the database triggers.
        resolve: (change, _args, context, info) => readAround(read.model, change.node, context, info) as never,
      }),
      edge: t.field({
        ...edge.options,
        resolve: ({ node }, _args, { payments }) => ({ cursor: edge.cursorOf(payments, node as never), node }),
      }),
      cursor: t.exposeString('cursor', { description: "The change's position in the feed." }),
    }),
  });
  return builder.objectRef<ListMessage>(`${Name}Changes`).implement({
    description: `A message in the stream for a live list of ${name}s: the list's first page, or changes in feed order.`,
    fields: (t) => {
      const { filter: _filter, after: _after, before: _before, last: _last, ...args } = listArgs(t.arg, filter);
      return {
        cursor: t.exposeString('cursor', {
          description:
            "The message's position in the feed: pass it as `after` to resume the stream. The position advances even when the list does not change.",
        }),
        changes: t.expose('changes', { type: [Change], description: 'The changes, in feed order.' }),
        snapshot: t.field({
          type: connection,
          nullable: true,
          description: 'The first page of the list; always null after the first message.',
          args,
          ...made(() => read),
          // The connection, as read by a plan.
          resolve: ({ snapshotOf }, _args, context, info) =>
            (snapshotOf ? runField(context, info, { given: snapshotOf }) : null) as never,
        }),
      };
    },
  });
}

followList(Transaction, transactions, TransactionFilter);
followList(Quote, quotes, QuoteFilter);
followList(Account, accounts, AccountFilter);
followList(Customer, customers, CustomerFilter);

/** The row's alias in a field's SQL, used to find the columns that the field reads. */
const row = 'the_row';
/** The maximum nesting depth of objects that are read from the same row. */
const maxDepth = 4;

const columnsOf = oncePer(
  (type: GraphQLObjectType, schema: GraphQLSchema): ReadonlyMap<string, readonly string[]> =>
    new Map(Object.values(type.getFields()).map((field) => [field.name, columnsOfField(schema, field)])),
);

/** Returns the names of a type's fields whose columns differ between two versions of a row. */
function changedFields(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): string[] {
  const isSame = (column: string) => isDeepStrictEqual(before[fieldName(column)], now[fieldName(column)]);
  return [...columnsOf(type, schema)].filter(([, of]) => !of.every(isSame)).map(([name]) => name);
}

function columnsOfField(schema: GraphQLSchema, field: Field): string[] {
  const found = new Set<string>();
  const find = (texts: string) => {
    for (const [, column = ''] of texts.matchAll(new RegExp(`\\b${row}\\.(\\w+)`, 'g'))) found.add(column);
  };
  const visit = (one: Field, depth: number): void => {
    const { read } = one.extensions;
    if (!read) return;
    find(plainReadText(read, row));
    const isSameRow = read.kind === 'value' && read.env({ row }).row === row;
    if (!isSameRow || depth === maxDepth) return;
    const named = getNamedType(one.type);
    for (const made of isAbstractType(named) ? schema.getPossibleTypes(named) : [named])
      if (isObjectType(made)) for (const below of Object.values(made.getFields())) visit(below, depth + 1);
  };
  visit(field, 0);
  return [...found];
}

type Field = GraphQLField<unknown, unknown>;
