import { stockNode } from '../reading/stock.ts';
import { builder } from './builder.ts';

/** The types whose rows can be read by an id. */
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
    id: 'A public id: its type, a colon, a UUID.',
    description: 'Anything with an id, by its id. Null when nothing visible to the caller has it.',
  }),
  nodes: t.fromQuery([builder.nodeInterfaceRef()], () => ({ kind: 'node', types: nodeTypes }), {
    nullable: { list: false, items: true },
    description:
      'Several things by their ids, in the order of the ids; null for each that is unknown. The selection costs as many times, and a repeated id is read once.',
    args: { ids: t.arg.idList({ required: true, description: 'Public ids.' }) },
    resolve: (_root, { ids }, context, info) =>
      (ids as readonly string[]).map((id) => stockNode(id, nodeTypes, context, info)),
  }),
}));
