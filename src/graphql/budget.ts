/** What one document may ask for, checked before it is validated; `use-budget.ts` puts that check in front of validation on every transport. */
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
import { type DocumentRequest, type DocumentSize, measureDocument } from './document-size.ts';

/**
 * The limits of one document, the same on HTTP, SSE and WebSocket. `DocumentSize` says how each is counted; every operation and fragment written
 * in a document is held to them, run or not.
 */
export const documentBudget = {
  /** Lexical tokens. White space and comments are free: the limit on the body's size bounds those. */
  tokens: 2000,
  depth: 15,
  fields: 500,
  aliases: 20,
  directives: 20,
  mutationFields: 5,
  cost: 5000,
} as const satisfies Record<keyof DocumentSize | 'tokens', number>;

/** The name of one limit, as refusals state it. */
export type BudgetLimit = keyof typeof documentBudget;

/**
 * The refusals a document earns before it is validated: one COST_LIMIT_EXCEEDED for each limit it breaks, or INTROSPECTION_DISABLED where it asks
 * for the schema and `introspection` is off. Empty for a document that may go on to validation.
 *
 * With `introspection` on, the standard introspection query is exempt: a document that is what graphql-js' `getIntrospectionQuery` prints under any
 * of its options, apart from the operation's name, aliases, white space and comments. Any other use of `__schema` and `__type` counts like ordinary fields.
 */
export function checkBudget(request: DocumentRequest & { readonly introspection: boolean }): GraphQLError[] {
  const { size, schemaField } = measureDocument(request);
  if (schemaField !== undefined && !request.introspection) return [introspectionDisabled(schemaField)];
  const broken = counted.filter((limit) => size[limit] > documentBudget[limit]);
  if (broken.length > 0 && schemaField !== undefined && isStandardIntrospection(request.document)) return [];
  return broken.map((limit) => budgetExceeded(limit, size[limit]));
}

/** The refusal of a document that breaks `limit`; `actual` is its own value, where known. */
export function budgetExceeded(limit: BudgetLimit, actual?: number): GraphQLError {
  const value = Number.isSafeInteger(actual) ? `: it has ${actual}` : '';
  return new GraphQLError(`The document breaks the ${limit} limit of ${documentBudget[limit]}${value}.`, {
    extensions: { code: 'COST_LIMIT_EXCEEDED', http: requestErrorStatus() },
  });
}

/** All limits but tokens, which only the parser sees. */
const counted = ['depth', 'fields', 'aliases', 'directives', 'mutationFields', 'cost'] as const;

function introspectionDisabled(field: FieldNode): GraphQLError {
  return new GraphQLError(`Introspection is disabled, but the document asks for ${field.name.value}.`, {
    nodes: field,
    extensions: { code: 'INTROSPECTION_DISABLED', http: requestErrorStatus() },
  });
}

/** 400 as application/graphql-response+json; `spec` keeps the 200 that GraphQL over HTTP asks of application/json. */
function requestErrorStatus(): { spec: boolean; status: number } {
  return { spec: true, status: 400 };
}

/** `getIntrospectionQuery` throws beyond this `typeDepth`. */
const deepestIntrospection = 100;

/** Reads off the document which options would have printed it; whether they do print just that decides. */
function isStandardIntrospection(document: DocumentNode): boolean {
  const text = normalised(document);
  const typeDepth = text.split('ofType').length - 1;
  if (typeDepth > deepestIntrospection) return false;
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
  return text === normalised(parse(standard));
}

function normalised(document: DocumentNode): string {
  const plain = visit(document, {
    OperationDefinition: (operation) => ({ ...operation, name: undefined }),
    Field: (field) => ({ ...field, alias: undefined }),
  });
  return stripIgnoredCharacters(print(plain));
}
