import { brandWithType } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { anyOf, byId, matchesNothing } from '../../../../core/conditions.ts';
import type { Cursors } from '../../../../core/cursors.ts';
import { publicId } from '../../../../core/ids.ts';
import { oncePer } from '../../../../core/once-per.ts';
import type { Viewer } from '../../../../domain/access/caller.ts';
import {
  seesAny,
  visibleCustomers,
  visibleEvents,
  visibleQuotes,
  visibleTransactions,
} from '../../../../domain/access/visible.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import type { Event as EventRow, Prisma } from '../../../../infra/database/generated/client/client.ts';
import { rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { invalidInput } from '../../failure.ts';
import {
  changedOrNow,
  changedRow,
  changedSubject,
  expiringTokenOf,
  feedOrder,
  modelOfEvent,
  snapshotOf,
  typeNameOf,
  webhookBody,
} from '../../reading/feed-reads.ts';
import { findFurtherRead, readAround, readNode, selectedNames } from '../../reading/planned.ts';
import { made, node } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { EventType } from '../enums.ts';
import { filterInput, found } from '../filters.ts';
import { listOf, pageArgs } from '../list.ts';
import { Account, Customer, Quote, Transaction } from '../nouns.ts';
import { afterDescription, filterOf, placeOf, watchMany } from './stream.ts';
import { visibleId } from './visible-ids.ts';

const referred = ['Transaction', 'Quote', 'Customer'] as const;
type Referred = (typeof referred)[number];

/** For the given model, returns the id of the row that an event refers to; null if it refers to none. */
const idIn = ({ transactionId, quoteId, customerId }: EventRow, model: Referred) =>
  ({ Transaction: transactionId, Quote: quoteId, Customer: customerId })[model];

/** The options for a field that returns the changed row as it was after the change, or a related row as it is now. */
const concerned = <Type>(model: Referred, type: Type, visible: (viewer: Viewer) => object) => ({
  type,
  nullable: true as const,
  description: `The ${model.toLowerCase()} that changed, or to which the changed object belongs; null for events about other objects.`,
  ...made(changedOrNow(model, model.toLowerCase(), visible)),
  // Both results represent a row of the model in the form that the type expects.
  resolve: (event: EventRow, _args: object, context: Context, info: GraphQLResolveInfo) => {
    const id = idIn(event, model);
    const current = () => (id === null ? null : readNode(publicId(model, id), [model], context, info));
    return (snapshotOf(event, model) ?? current()) as never;
  },
});

function subjectOf(event: EventRow): object | null {
  const model = modelOfEvent(event);
  if (model === undefined) return null;
  const row = rowFromSnapshot(model, event.snapshot);
  // Pothos accepts only the names of the builder's types, and typeNameOf returns one of them.
  brandWithType(row, typeNameOf(model, row) as never);
  return row;
}

export const Event = builder.prismaNode('Event', {
  ...node(visibleEvents, "The event's public id (`Event:…`). Webhooks contain it as `eventId`."),
  description:
    'A change in the feed. The changed object is returned as it was after the change. Related objects are returned in their current state.',
  fields: (t) => ({
    cursor: t.string({
      description: "The event's position in the feed: pass it as `after` to continue from there.",
      extensions: { costs: 'rows' },
      select: { platformId: true, sequence: true, epoch: true },
      resolve: (event, _args, { payments }) => feedCursor(payments.cursors, event.platformId, event),
    }),
    ...t.columns({ type: 'The kind of change.', occurredAt: 'When the change happened.' }),
    subject: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'The object that changed, as it was after the change; null for a test event.',
      ...made(changedSubject),
      resolve: subjectOf,
    }),
    transaction: t.field(concerned('Transaction', Transaction, visibleTransactions)),
    account: t.field({
      type: Account,
      nullable: true,
      description: 'The account that changed; null for events about other objects.',
      ...made(changedRow('Account')),
      resolve: (event) => snapshotOf(event, 'Account'),
    }),
    quote: t.field(concerned('Quote', Quote, visibleQuotes)),
    customer: t.field(concerned('Customer', Customer, visibleCustomers)),
    apiTokenId: t.id({
      nullable: true,
      description: 'The API token that is about to expire; null for other events.',
      // Postgres takes as long to read it as to read the changed row.
      extensions: { costs: 'past' },
      select: { type: true, snapshot: true },
      resolve: expiringTokenOf,
    }),
    webhookBody: t.fromQuery('String', webhookBody, {
      nullable: true,
      description:
        "The body of the event's webhook, exactly as endpoints receive it. Null if the event's type has no webhook or the caller uses a client token.",
    }),
  }),
});

const EventFilter = filterInput('EventFilter', ['An event', 'events'], (t) => ({
  types: t.field({ type: [EventType], description: 'Events of any of these types.' }),
  customerId: t.id(found('index', 'Events that concern this customer (`Customer:…`).')),
  transactionId: t.id(found('one', 'Events that concern this transaction (`Transaction:…`) or its quote.')),
}));

type Filter = typeof EventFilter.$inferInput | null | undefined;

function whereEvents(viewer: Viewer, filter: Filter): Prisma.EventWhereInput {
  const { types, customerId: customer, transactionId: transaction } = filter ?? {};
  if (customer && !seesAny('customer', viewer)) return matchesNothing;
  return {
    AND: [
      anyOf('type', types),
      byId(customer, (customerId) => ({ customerId }), 'Customer'),
      byId(transaction, (transactionId) => ({ transactionId }), 'Transaction'),
    ],
  };
}

/**
 * Returns the conditions of `whereEvents` for a stream.
 * @throws GraphQLError for a filter whose stream would stay empty forever: NOT_FOUND for an id that the caller may not
 *   see, INVALID_INPUT for an empty list of types
 */
async function followedEvents(context: Context, filter: Filter) {
  const { types, customerId: customer, transactionId: transaction } = filter ?? {};
  if (types?.length === 0) throw invalidInput('name at least one type', 'filter.types');
  return filterOf(types ?? undefined, {
    customerId: await visibleId(context, 'Customer', customer, 'filter.customerId'),
    transactionId: await visibleId(context, 'Transaction', transaction, 'filter.transactionId'),
  });
}

/** Returns whether a document selects a row that an event only refers to. */
function refersFurther(event: EventRow, info: GraphQLResolveInfo): boolean {
  const selected = selectedNames(info);
  return referred.some(
    (model) => idIn(event, model) !== null && modelOfEvent(event) !== model && selected.has(model.toLowerCase()),
  );
}

const messageOf = oncePer((event: EventRow, cursors: Cursors) => ({
  ...placeOf(event, cursors, event.platformId),
  event,
}));

const events = listOf(Event, {
  visible: visibleEvents,
  where: whereEvents,
  key: feedOrder,
  cursors: 'feed',
  words: ['An event', 'the feed'],
  args: (t) => ({
    ...pageArgs(t),
    filter: t({ type: EventFilter, description: 'Returns only events that match this filter.' }),
  }),
});

builder.queryField('events', (t) =>
  t.page(events, {
    description:
      'The event feed as a list, oldest first. Nothing is ever removed from the feed. The list accepts the same cursors as the subscriptions, however old they are.',
  }),
);

builder.subscriptionField('events', (t) =>
  t.field({
    type: Event,
    description:
      'All changes that the caller may see. The stream begins with the next change or, if `after` is given, with the first change after that cursor.',
    args: {
      after: t.arg.string({ description: afterDescription }),
      filter: t.arg({ type: EventFilter, description: 'Sends only events that match this filter.' }),
    },
    subscribe: async (_root, { after, filter }, context) =>
      watchMany(context, after, await followedEvents(context, filter), messageOf),
    resolve: ({ event }, _args, context, info) =>
      readAround(
        'Event',
        event,
        context,
        info,
        refersFurther(event, info) || findFurtherRead(info, false) !== undefined,
      ),
  }),
);
