import { maxAmount } from '../../../core/checks.ts';
import {
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../../../domain/access/visible.ts';
import { stockNode } from '../reading/stock.ts';
import { node, variantsBy } from '../reading/words.ts';
import { builder } from './builder.ts';

/**
 * Declares the schema's object types that refer to one another, with the visibility of their rows. The fields of each
 * type are in its own file. A value of one of these types is either a whole row (a command's result or a snapshot from
 * the feed) or an object that a plan has read (reading/planned.ts).
 */

export const Transaction = builder.prismaNode('Transaction', {
  ...node(visibleTransactions),
  description: 'A payment, outgoing or incoming.',
});

export const Quote = builder.prismaNode('Quote', {
  ...node(visibleQuotes),
  description:
    'A time-limited offer to convert and send money at a locked rate and with locked fees. The quote and its payment are created together.',
});

export const Customer = builder.prismaNode('Customer', {
  ...node(visibleCustomers),
  description: 'A person or company for whom the platform moves money.',
});

export const Account = builder.prismaInterface('Account', {
  description:
    'An internal account (a balance held here) or an external account (a bank account or wallet held elsewhere).',
  interfaces: [builder.nodeInterfaceRef()],
  ...variantsBy('kind', { INTERNAL: 'InternalAccount', EXTERNAL: 'ExternalAccount' }),
});

export const InternalAccount = builder.prismaNode('Account', {
  variant: 'InternalAccount',
  ...node(visibleAccounts),
  description: `A balance held by this service in one currency: at most ${maxAmount} of the currency's smallest units. Incoming money that would raise the balance above this limit is refused with AMOUNT_OUT_OF_RANGE, or returned if it is already on its way. Only refunds and the platform's fees may raise the balance above the limit.`,
  interfaces: [Account],
});

export const ExternalAccount = builder.prismaNode('Account', {
  variant: 'ExternalAccount',
  ...node(visibleAccounts),
  description:
    'A bank account or wallet held elsewhere. Money can be sent to it and, if it is a bank account, pulled from it.',
  interfaces: [Account],
});

/** The types whose rows can be read by id. */
export const nodeTypes = [
  'Quote',
  'Transaction',
  'Customer',
  'InternalAccount',
  'ExternalAccount',
  'Lookup',
  'ApiToken',
  'ClientToken',
  'WebhookEndpoint',
  'WebhookDelivery',
  'Event',
  'Platform',
  'Policy',
] as const;

builder.queryFields((t) => ({
  node: t.byId(builder.nodeInterfaceRef(), nodeTypes, {
    word: 'object',
    id: 'A public id: a type, a colon and a UUID, such as Quote:…',
  }),
  nodes: t.fromQuery([builder.nodeInterfaceRef()], () => ({ kind: 'node', types: nodeTypes }), {
    nullable: { list: false, items: true },
    description:
      'The objects with these ids, in the same order; null for each id that is unknown. A repeated id is read only once, but the cost of the selection is counted for every occurrence.',
    args: { ids: t.arg.idList({ required: true, description: "The objects' public ids." }) },
    resolve: (_root, { ids }, context, info) =>
      (ids as readonly string[]).map((id) => stockNode(id, nodeTypes, context, info)),
  }),
}));
