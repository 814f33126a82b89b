import { eventsOfNoun } from '../../../../domain/events/row-events.ts';
import { rowFromSnapshot } from '../../../../infra/database/rows.ts';
import { builder } from '../builder.ts';
import { KycStatus } from '../enums.ts';
import { Customer } from '../nouns.ts';
import { afterDescription, checkSubject, filterOf, updatesOf, watchMany } from './stream.ts';
import { previously, updateType } from './update-type.ts';
import { watchRows } from './watch-rows.ts';

const CustomerUpdate = updateType(
  'Customer',
  Customer,
  'A change of a customer: of its identity check, its details or its deletion. In a stream of one customer, the first message is its current state.',
  (t) => ({
    previousKycStatus: t.field(
      previously(
        KycStatus,
        'The status of the check before this change; null for a new customer, and for the current state at the start of the stream.',
      ),
    ),
    kycStatus: t.field({
      type: KycStatus,
      description: 'The status of the identity check after this change.',
      resolve: ({ row }) => row.kycStatus,
    }),
  }),
);

builder.subscriptionField('customerUpdates', (t) =>
  t.field({
    type: CustomerUpdate,
    description:
      'Changes of customers and their identity checks. A stream of one customer begins with its current state and completes after its deletion; a stream of all customers that the caller may see begins with the next change. With `after`, it sends every change after that cursor.',
    args: {
      customerId: t.arg.id({
        description: 'The customer to follow: Customer:… By default all that the caller may see.',
      }),
      after: t.arg.string({ description: afterDescription }),
    },
    subscribe: async (_root, { customerId, after }, context) => {
      checkSubject(customerId, 'customerId');
      return customerId == null
        ? watchMany(context, after, filterOf(eventsOfNoun.Customer.types, undefined), updatesOf.Customer)
        : watchRows(context, after, {
            noun: 'Customer',
            ids: [customerId],
            field: 'customerId',
            isLast: ({ snapshot }) => rowFromSnapshot('Customer', snapshot).isDeleted,
            hasEnded: ({ isDeleted }) => isDeleted,
          });
    },
    resolve: (update) => update,
  }),
);
