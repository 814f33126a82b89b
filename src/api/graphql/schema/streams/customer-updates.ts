import type { Cursors } from '../../../../core/cursors.ts';
import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import type { Event, KycStatus as Status } from '../../../../infra/database/generated/client/client.ts';
import { type Customer as CustomerRow, rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { readAround } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { KycStatus } from '../enums.ts';
import { Customer } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, type Message, placeOf, watchMany } from './stream.ts';
import { visibleRows } from './visible-ids.ts';
import { type RowStream, watchRows } from './watch-rows.ts';

interface CustomerUpdate extends Message {
  readonly customer: CustomerRow;
  readonly previousKycStatus: Status | null;
  readonly kycStatus: Status;
  readonly occurredAt: Date;
}

const CustomerUpdateType = builder.objectRef<CustomerUpdate>('CustomerUpdate').implement({
  description:
    'A change of a customer: of its identity check, its details or its deletion. In a stream of one customer the first message is its current state.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The position of the change in the feed: pass it as `after` to resume the stream.',
    }),
    customer: t.field({
      type: Customer,
      description: 'The customer as of this change.',
      resolve: (update, _args, context, info) => readAround('Customer', update.customer, context, info),
    }),
    previousKycStatus: t.expose('previousKycStatus', {
      type: KycStatus,
      nullable: true,
      description:
        'The status of the identity check before this change; null if the customer is new, and in the current state.',
    }),
    kycStatus: t.expose('kycStatus', {
      type: KycStatus,
      description: 'The status of the identity check after this change.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the customer changed.' }),
  }),
});

function updateOf(event: Event, cursors: Cursors): CustomerUpdate {
  const { snapshot, previousStatus, occurredAt } = event;
  // The database makes the snapshot in this form.
  const customer = rowFromSnapshot('Customer', snapshot);
  return {
    ...currentState(customer, placeOf(cursors, event.platformId, event)),
    // So does it write a status: events of customers have those of their checks.
    previousKycStatus: previousStatus as Status | null,
    occurredAt,
  };
}

function currentState(customer: CustomerRow, place: Message): CustomerUpdate {
  return {
    ...place,
    customer,
    previousKycStatus: null,
    kycStatus: customer.kycStatus,
    occurredAt: customer.updatedAt,
  };
}

/** Returns how a stream of one customer reads and shows it. */
function customerStream(context: Context, id: string): RowStream<CustomerRow, CustomerUpdate> {
  return {
    noun: 'Customer',
    findRows: () => visibleRows(context, 'Customer', [id], 'customerId'),
    subjectId: (row) => row.id,
    toUpdate: updateOf,
    asCurrentState: (update) => ({ ...update, previousKycStatus: null }),
    currentState,
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
