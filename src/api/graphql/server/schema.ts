import '../schema/values/scalars.ts';
import '../schema/values/money.ts';
import '../schema/refusals.ts';
import '../schema/nouns.ts';
import '../schema/platform/viewer.ts';
import '../schema/platform/platform.ts';
import '../schema/customers/account-info.ts';
import '../schema/customers/account.ts';
import '../schema/customers/customer.ts';
import '../schema/payments/quote.ts';
import '../schema/payments/transaction.ts';
import '../schema/payments/transaction-mutations.ts';
import '../schema/payments/lookup.ts';
import '../schema/streams/updates.ts';
import '../schema/streams/events.ts';
import '../schema/streams/list-changes.ts';
import '../schema/customers/statement.ts';
import '../schema/payments/pricing.ts';
import '../schema/webhooks/webhook-endpoint.ts';
import '../schema/receipt.ts';
import '../schema/payments/validated-payment.ts';
import '../schema/platform/policies.ts';
import '../schema/platform/tokens.ts';
import { lexicographicSortSchema, specifiedDirectives } from 'graphql';
import { printWithDirective, semanticNonNull } from '../reading/semantic-non-null.ts';
import { builder } from '../schema/builder.ts';

/** The schema that every transport serves. Not sorted, so that a result's success payload comes before its refusals. */
export const schema = builder.toSchema({ sortSchema: false, directives: [...specifiedDirectives, semanticNonNull] });

/** Prints the schema for schema.graphql, sorted so that a diff shows only what has changed. */
export function printedSchema(): string {
  return `${printWithDirective(lexicographicSortSchema(schema))}\n`;
}
