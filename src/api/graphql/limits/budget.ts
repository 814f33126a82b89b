/** Defines the limits of one document, which are checked before validation (documents.ts). */
import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  getIntrospectionQuery,
  parse,
  print,
  stripIgnoredCharacters,
  visit,
} from 'graphql';
import { unprocessableStatus } from '../failure.ts';
import { type CostlyPath, costliestPath } from './alternatives.ts';
import type { DocumentSize, Measure } from './document-size.ts';

/** The limits of one document on every transport. Each operation and fragment must be within them. */
export const documentBudget = {
  tokens: 2000,
  depth: 15,
  fields: 500,
  aliases: 20,
  directives: 20,
  mutationFields: 5,
  /**
   * Allows a page of 100 payments with the total count and everything that an app shows for each payment, which costs
   * 19,200 and takes 50 ms. The worst documents found took 0.7 to 1.2 s on two shared cores and returned 3.2 MB. A
   * document that reads a hundred rows below each of a hundred rows is refused.
   */
  cost: 27_500,
} as const satisfies Record<keyof DocumentSize, number>;

/**
 * The maximum number of tokens that are parsed. A selection set has at least three (two braces and a selection), so
 * adding `__typename` to each selection set lengthens a document by at most a third. That is allowed: after parsing,
 * only the tokens that count are compared with `documentBudget.tokens`.
 */
export const maxTokensParsed = Math.ceil((documentBudget.tokens * 4) / 3);

type BudgetLimit = keyof typeof documentBudget;

/**
 * Checks a document against the limits before validation. Returns a COST_LIMIT_EXCEEDED error for each exceeded limit,
 * or INTROSPECTION_DISABLED if it selects from the schema and `introspection` is off; otherwise no errors.
 *
 * With `introspection` on, the standard introspection query is exempt: the output of graphql-js'
 * `getIntrospectionQuery` with any options, apart from operation name, aliases, white space and comments. In all other
 * documents `__schema` and `__type` count like ordinary fields.
 */
export function checkBudget(
  document: DocumentNode,
  { size, costliest, schemaField }: Measure,
  introspection: boolean,
): GraphQLError[] {
  if (schemaField !== undefined && !introspection) return [introspectionDisabled(schemaField)];
  const brokenLimits = limits.filter((limit) => size[limit] > documentBudget[limit]);
  if (brokenLimits.length > 0 && schemaField !== undefined && isStandardIntrospection(document)) return [];
  return brokenLimits.map((limit) =>
    limit === 'cost' && costliest
      ? costExceeded(size.cost, costliestPath(costliest))
      : budgetExceeded(limit, size[limit]),
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

/** Returns whether a count is exact: beyond 2^53 it is approximate or infinite. */
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

/** `getIntrospectionQuery` throws above this `typeDepth`. */
const maxTypeDepth = 100;

/** Derives the options of a standard query from a document, prints the query with them, and compares the two. */
function isStandardIntrospection(document: DocumentNode): boolean {
  const text = normalizedText(document);
  const typeDepth = text.split('ofType').length - 1;
  if (typeDepth > maxTypeDepth) return false;
  const standard = getIntrospectionQuery({
    descriptions: text.includes('description'),
    specifiedByUrl: text.includes('specifiedByURL'),
    directiveIsRepeatable: text.includes('isRepeatable'),
    schemaDescription: text.includes('__schema{description'),
    inputValueDeprecation: text.includes('args(includeDeprecated:true)'),
    experimentalDirectiveDeprecation: text.includes('directives(includeDeprecated:true)'),
    oneOf: text.includes('isOneOf'),
    typeDepth,
  });
  return text === normalizedText(parse(standard));
}

function normalizedText(document: DocumentNode): string {
  const plain = visit(document, {
    OperationDefinition: (operation) => ({ ...operation, name: undefined }),
    Field: (field) => ({ ...field, alias: undefined }),
  });
  return stripIgnoredCharacters(print(plain));
}
