import { planned } from '../reading/planned.ts';
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
] as const;

builder.queryField('node', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'Anything with an id, by its id. Null when nothing visible to the caller has it.',
    ...planned({ kind: 'node', types: nodeTypes }),
    args: { id: t.arg.id({ required: true, description: 'A public id: its type, a colon, a UUID.' }) },
  }),
);

builder.queryField('nodes', (t) =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description:
      'Several things by their ids, in the order of the ids; null for each that is unknown. The selection costs as many times, and a repeated id is read once.',
    ...planned({ kind: 'node', types: nodeTypes }),
    args: { ids: t.arg.idList({ required: true, description: 'Public ids.' }) },
  }),
);
