import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import type { KycStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import { rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { KycStatus } from '../enums.ts';
import { Customer } from '../nouns.ts';
import {
  afterDescription,
  checkSubject,
  cursorOptions,
  filterOf,
  type RowUpdate,
  updatesOf,
  watchMany,
} from './stream.ts';
import { visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

const CustomerUpdateType = builder.objectRef<RowUpdate<'Customer'>>('CustomerUpdate').implement({
  description:
    'A change of a customer: of its identity check, its details or its deletion. In a stream of one customer the first message is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', cursorOptions),
    customer: t.field({
      type: Customer,
      description: 'The customer as of this change.',
      resolve: ({ row }, _args, context, info) => readAround('Customer', row, context, info),
    }),
    previousKycStatus: t.field({
      type: KycStatus,
      nullable: true,
      description:
        'The status of the check before this change; null for a new customer, and for the current state at the start of the stream.',
      // The database writes the status: events of customers have the statuses of their checks.
      resolve: ({ change }) => (change?.previousStatus ?? null) as Status | null,
    }),
    kycStatus: t.field({
      type: KycStatus,
      description: 'The status of the identity check after this change.',
      resolve: ({ row }) => row.kycStatus,
    }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'When the customer changed.',
      resolve: ({ row }) => row.updatedAt,
    }),
  }),
});

const updateOf = updatesOf('Customer');

function customerStream(context: Context, id: string): RowStream<'Customer'> {
  return {
    noun: 'Customer',
    findRows: () => visibleRows(context, 'Customer', [id], 'customerId'),
    subjectId: (row) => row.id,
    toUpdate: updateOf,
    isLast: ({ snapshot }) => rowFromSnapshot('Customer', snapshot).isDeleted,
    hasEnded: ({ isDeleted }) => isDeleted,
  };
}

builder.subscriptionField('customerUpdates', (t) =>
  t.field({
    type: CustomerUpdateType,
    description:
      'Changes of customers and their identity checks: of one customer (its current state first; completes after its deletion), or of all customers that the caller may see (the next change first). With `after`, every change after that cursor.',
    args: {
      customerId: t.arg.id({
        description: 'The customer to follow: Customer:… By default all that the caller may see.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { customerId, after }, context) => {
      checkSubject(customerId, 'customerId');
      return customerId == null
        ? watchMany(context, after, filterOf(eventsOfNoun.Customer.types, undefined), updateOf)
        : watchRows(context, after, customerStream(context, customerId));
    },
    resolve: (update) => update,
  }),
);
