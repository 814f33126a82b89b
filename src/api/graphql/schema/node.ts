import { stockNode } from '../reading/stock.ts';
import { builder } from './builder.ts';

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
    id: 'A public id: a type, a colon and a UUID, such as Quote:…',
    description: 'The object with this id; null if it does not exist or the caller may not see it.',
  }),
  nodes: t.fromQuery([builder.nodeInterfaceRef()], () => ({ kind: 'node', types: nodeTypes }), {
    nullable: { list: false, items: true },
    description:
      'The objects with these ids, in the same order; null for each id that is unknown. The cost of the selection counts once for each id, although a repeated id is read only once.',
    args: { ids: t.arg.idList({ required: true, description: 'The public ids of the objects.' }) },
    resolve: (_root, { ids }, context, info) =>
      (ids as readonly string[]).map((id) => stockNode(id, nodeTypes, context, info)),
  }),
}));
