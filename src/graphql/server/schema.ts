import '../schema/values/scalars.ts';
import '../schema/values/money.ts';
import '../schema/node.ts';
import '../schema/viewer.ts';
import '../schema/customers/account.ts';
import '../schema/customers/customer.ts';
import '../schema/payments/quote.ts';
import '../schema/payments/quote-mutations.ts';
import '../schema/payments/transaction.ts';
import '../schema/payments/transaction-history.ts';
import '../schema/payments/lookup.ts';
import '../schema/payments/approval.ts';
import '../schema/streams/transaction-updates.ts';
import '../schema/streams/quote-updates.ts';
import '../schema/streams/account-updates.ts';
import '../schema/streams/events.ts';
import '../schema/customers/customer-lists.ts';
import '../schema/payments/exchange-rates.ts';
import '../schema/payments/sandbox.ts';
import '../schema/webhooks/webhook-endpoint.ts';
import '../schema/webhooks/webhook-mutations.ts';
import '../schema/receipt.ts';
import '../schema/tokens.ts';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { builder } from '../schema/builder.ts';

/** The schema that every transport serves, in the order of its code: a result's success comes first. */
export const schema = builder.toSchema({ sortSchema: false });

/** The schema as schema.graphql has it: sorted, so that a change shows as just what changed. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
