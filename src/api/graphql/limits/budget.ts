/** Defines the limits on a document, which are checked before validation (documents.ts). */
import { type FieldNode, GraphQLError } from 'graphql';
import { unprocessableStatus } from '../failure.ts';
import type { CostlyPath, DocumentSize, Measure } from './document-size.ts';

/**
 * The limits on a document, for all transports. Each operation and fragment must be within them. They allow
 * graphql-js's introspection query with the default `typeDepth`.
 */
export const documentBudget = {
  tokens: 2000,
  depth: 15,
  fields: 500,
  aliases: 20,
  directives: 20,
  mutationFields: 5,
  /**
   * Allows a page of 100 payments with the total count and everything that an app shows for each payment. Such a page
   * costs 19,200 and takes 50 ms. The worst permitted documents found took 0.7 to 1.2 s on two shared cores and
   * returned 3.2 MB. A document that reads a hundred rows for each of a hundred rows is refused.
   */
  cost: 27_500,
} as const satisfies Record<keyof DocumentSize, number>;

/**
 * The maximum number of tokens that are parsed. A selection set has at least three (two braces and a selection), so
 * adding `__typename` to each selection set lengthens a document by at most a third. The parser must accept that,
 * because these tokens do not count toward `documentBudget.tokens`.
 */
export const maxTokensParsed = Math.ceil((documentBudget.tokens * 4) / 3);

type BudgetLimit = keyof typeof documentBudget;

/**
 * Checks a document against the limits before validation. Returns a COST_LIMIT_EXCEEDED error for each exceeded limit,
 * or only INTROSPECTION_DISABLED if the document queries the schema and `introspection` is off.
 */
export function checkBudget({ size, costliest, schemaField }: Measure, introspection: boolean): GraphQLError[] {
  if (schemaField !== undefined && !introspection) return [introspectionDisabled(schemaField)];
  return limits
    .filter((limit) => size[limit] > documentBudget[limit])
    .map((limit) =>
      limit === 'cost' && costliest ? costExceeded(size.cost, costliest) : budgetExceeded(limit, size[limit]),
    );
}

/** Creates the error for a document that exceeds a limit; `actual` is the document's own value, if known. */
export function budgetExceeded(budget: BudgetLimit, actual?: number): GraphQLError {
  const value = isExact(actual) ? `: it has ${actual}` : '';
  return limitExceeded(budget, value, isExact(actual) ? { actual } : {});
}

function costExceeded(actual: number, { path, cost }: CostlyPath): GraphQLError {
  if (!isExact(actual) || !isExact(cost))
    return limitExceeded('cost', `, mostly because of ${path.join('.')}`, { costliest: { path } });
  const value = `: it costs ${actual}, ${cost} of that for ${path.join('.')}`;
  return limitExceeded('cost', value, { actual, costliest: { path, cost } });
}

function limitExceeded(budget: BudgetLimit, value: string, details: object): GraphQLError {
  const limit = documentBudget[budget];
  return new GraphQLError(`The document exceeds the ${budget} limit of ${limit}${value}.`, {
    extensions: { code: 'COST_LIMIT_EXCEEDED', budget, limit, ...details, http: unprocessableStatus },
  });
}

/** Returns whether a count is exact. Beyond 2^53 it is approximate or infinite. */
function isExact(count: number | undefined): count is number {
  return Number.isSafeInteger(count);
}

const limits = ['tokens', 'depth', 'fields', 'aliases', 'directives', 'mutationFields', 'cost'] as const;

function introspectionDisabled(field: FieldNode): GraphQLError {
  return new GraphQLError(`Introspection is disabled, but the document selects ${field.name.value}.`, {
    nodes: field,
    extensions: { code: 'INTROSPECTION_DISABLED', http: unprocessableStatus },
  });
}
