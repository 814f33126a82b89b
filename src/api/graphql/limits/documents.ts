import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { oncePer } from '../../../core/once-per.ts';
import { incompleteStatus, locationOf, unprocessableStatus } from '../failure.ts';
import { budgetExceeded, checkBudget, maxTokensParsed } from './budget.ts';
import { type DocumentSize, measureDocument } from './document-size.ts';
import type { SentDocument } from './list-sizes.ts';

/** Validation stops after this many errors, so that an invalid document costs no more to validate than a valid one. */
const maxErrors = 10;

interface DocumentsOptions {
  readonly schema: GraphQLSchema;
  /** Whether clients may read the schema. If not, they get no `__schema`, no `__type` and no suggestions in errors. */
  readonly introspection: boolean;
  /** The validation rules; by default, the rules of the GraphQL specification. */
  readonly rules?: readonly ValidationRule[];
}

/** Parses documents from all transports, checks them against the budget, and validates them. */
export class Documents {
  readonly #options: DocumentsOptions;
  /**
   * The parsed documents, keyed by text, with space for more than a thousand app documents. Malformed documents are not
   * cached: they cost little, because parsing stops at the first error.
   */
  readonly #parsed = new LRUCache<string, DocumentNode>({
    maxSize: 32 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + 6 * kibibyte + 400 * tokensOf(document),
  });

  constructor(options: DocumentsOptions) {
    this.#options = options;
  }

  /** Parses a document. Throws GRAPHQL_PARSE_FAILED, or COST_LIMIT_EXCEEDED if it has too many tokens to parse. */
  parse(text: string): DocumentNode {
    const cached = this.#parsed.get(text);
    if (cached) return cached;
    const document = parseDocument(text);
    this.#parsed.set(text, document);
    return document;
  }

  /** Measures a document, checks it against the budget, and validates it only if it is within the budget. */
  check(sent: SentDocument): { readonly size: DocumentSize; readonly errors: readonly GraphQLError[] } {
    const { schema, introspection } = this.#options;
    const measure = measureDocument({ ...sent, schema });
    const refusals = checkBudget(measure, introspection);
    const errors = refusals.length > 0 ? refusals : this.#validate(sent.document);
    return { size: measure.size, errors: errors.length > 0 && lacksVariable(sent) ? errors.map(asIncomplete) : errors };
  }

  /** Returns why a document can never be executed, whatever its variables; undefined if it can. */
  problemIn(text: string): string | undefined {
    try {
      return this.#validate(this.parse(text))[0]?.message;
    } catch (error) {
      if (error instanceof GraphQLError) return error.message;
      throw error;
    }
  }

  readonly #validate = oncePer((document: DocumentNode): readonly GraphQLError[] => {
    const { schema, introspection, rules = specifiedRules } = this.#options;
    const options = { maxErrors, hideSuggestions: !introspection };
    const conditionalErrors = validate(schema, document, [unconditionalRoots], options);
    const errors = conditionalErrors.length > 0 ? conditionalErrors : validate(schema, document, rules, options);
    for (const { extensions } of errors) {
      // A scalar may have set its own code.
      extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
      extensions.http = unprocessableStatus;
    }
    return errors;
  });
}

function lacksVariable({ document, operationName, variables }: SentDocument): boolean {
  return (getOperationAST(document, operationName)?.variableDefinitions ?? []).some(
    ({ type, defaultValue, variable }) =>
      type.kind === Kind.NON_NULL_TYPE && !defaultValue && variables?.[variable.name.value] == null,
  );
}

function asIncomplete(error: GraphQLError): GraphQLError {
  const extensions = { ...error.extensions, http: incompleteStatus };
  return new GraphQLError(error.message, { ...locationOf(error), extensions });
}

function parseDocument(text: string): DocumentNode {
  try {
    return parse(text, { maxLexicalTokens: maxTokensParsed });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    // The graphql-js error for too many tokens, with or without its typo "more that".
    if (/^Syntax Error: Document contains more tha[tn] \d+ tokens\./.test(error.message))
      throw budgetExceeded('tokens');
    throw new GraphQLError(error.message, {
      source: error.source,
      positions: error.positions,
      extensions: { code: 'GRAPHQL_PARSE_FAILED', http: incompleteStatus },
    });
  }
}

/** The sentence that graphql-js appends to a message: ` Did you mean "a", "b", or "c"?` */
const suggestion = / Did you mean [^?]+\?$/;

/** Removes suggestions from the executor's errors. `hideSuggestions` does not apply to errors about variables. */
export function removeSuggestions(errors: readonly GraphQLError[]): void {
  for (const error of errors) error.message = error.message.replace(suggestion, '');
}

/** GraphQL (2025, 5.2.4.1) forbids @skip and @include on a subscription's root field. graphql-js 16 fails on them. */
const unconditionalRoots: ValidationRule = (context) => ({
  Directive(node) {
    const name = node.name.value;
    const isOfRoot = context.getParentType() === context.getSchema().getSubscriptionType();
    if (isOfRoot && (name === 'skip' || name === 'include'))
      context.reportError(new GraphQLError(`A subscription's root field must not have @${name}.`, { nodes: node }));
  },
});

/**
 * The caches of documents and plans are bounded by the weight of their entries, because anyone, even without
 * credentials, can send any number of documents that are used only once. All other data about a document is in WeakMaps
 * keyed by its tree, and is garbage-collected with it. The weights were measured on documents of 14 to 2,000 tokens. An
 * app's document has about 50.
 */

const mebibyte = 2 ** 20;
const kibibyte = 2 ** 10;

function tokensOf(document: DocumentNode): number {
  // The parser always sets `tokenCount`. The type makes it optional, because trees can be built without a parser.
  return document.tokenCount ?? maxTokensParsed;
}

/** The capacity of the query plan cache (enough for about eight hundred plans), and the size counted for each plan. */
export const maxPlanBytes = 16 * mebibyte;
export const planBytes = (source: DocumentNode) => 2 * kibibyte + 600 * tokensOf(source);
