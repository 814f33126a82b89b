import './scalars.ts';
import './money.ts';
import './node.ts';
import './viewer.ts';
import './account.ts';
import './customer.ts';
import './quote.ts';
import './transaction.ts';
import './transaction-history.ts';
import './lookup.ts';
import './approval.ts';
import './transaction-updates.ts';
import './quote-updates.ts';
import './account-updates.ts';
import './events.ts';
import './customer-lists.ts';
import './exchange-rates.ts';
import './sandbox.ts';
import './webhook-endpoint.ts';
import './webhook-mutations.ts';
import './receipt.ts';
import './tokens.ts';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { builder } from './builder.ts';

/** The schema that every transport serves, in the order of its code: a result's success comes first. */
export const schema = builder.toSchema({ sortSchema: false });

/** The schema as schema.graphql has it: sorted, so that a change shows as just what changed. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
