import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { budgetExceeded, checkBudget, mostTokensParsed } from './budget.ts';
import { documentCache } from './document-cache.ts';
import type { SentDocument } from './list-sizes.ts';
import { conditionalRoots } from './stream-rules.ts';

/** Validation gives up after this many errors: an invalid document earns no more work than a valid one. */
const maxErrors = 10;

interface DocumentsOptions {
  readonly schema: GraphQLSchema;
  /** Whether the schema may be asked for. Without, it is kept secret: no `__schema`, no `__type`, no suggestions. */
  readonly introspection: boolean;
  /** The rules of validation; those of the specification, if left out. */
  readonly rules?: readonly ValidationRule[];
}

/**
 * The documents that clients send, on every transport: parsed and validated once for as long as they stay in the cache, and
 * held to `documentBudget` each time, since variables decide how much a document asks for.
 */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #parsed = documentCache();
  readonly #errors = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  constructor(options: DocumentsOptions) {
    this.#options = options;
  }

  /**
   * Parses a document.
   * @throws GraphQLError GRAPHQL_PARSE_FAILED where it is malformed, COST_LIMIT_EXCEEDED for more tokens than are parsed
   */
  parse(text: string): DocumentNode {
    const known = this.#parsed.get(text);
    if (known) return known;
    const document = parsed(text);
    this.#parsed.set(text, document);
    return document;
  }

  /** Finds what is wrong with a document: the refusals of the budget, or else, no rule having run before, what validation says. */
  check({ document, operationName, variables }: SentDocument): readonly GraphQLError[] {
    const { schema, introspection } = this.#options;
    const refusals = checkBudget({ schema, document, operationName, variables, introspection });
    return refusals.length > 0 ? refusals : this.#validate(document);
  }

  #validate(document: DocumentNode): readonly GraphQLError[] {
    const known = this.#errors.get(document);
    if (known) return known;
    const { schema, introspection, rules = specifiedRules } = this.#options;
    const conditional = conditionalRoots(document);
    const errors =
      conditional.length > 0
        ? conditional
        : validate(schema, document, rules, { maxErrors, hideSuggestions: !introspection });
    for (const { extensions } of errors) {
      // A scalar may have said what is wrong with a value.
      extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
      extensions.http = { spec: true, status: 400 };
    }
    this.#errors.set(document, errors);
    return errors;
  }
}

function parsed(text: string): DocumentNode {
  try {
    return parse(text, { maxLexicalTokens: mostTokensParsed });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (isTokenLimit(error)) throw budgetExceeded('tokens');
    throw new GraphQLError(error.message, {
      source: error.source,
      positions: error.positions,
      extensions: { code: 'GRAPHQL_PARSE_FAILED', http: { status: 400, spec: true } },
    });
  }
}

/** graphql-js tells this syntax error from others by its text alone (with a typo, "more that", that may get mended). */
function isTokenLimit({ message }: GraphQLError): boolean {
  return /^Syntax Error: Document contains more tha[tn] \d+ tokens\./.test(message);
}

/** graphql-js ends a message with one sentence: ` Did you mean "a", "b", or "c"?` */
const suggestion = / Did you mean [^?]+\?$/;

/**
 * Takes the suggestions out of errors of the executor: it coerces variables, and under graphql-js 16 suggests names and enum
 * values whatever `hideSuggestions` says.
 */
export function removeSuggestions(errors: readonly GraphQLError[]): void {
  for (const error of errors) error.message = error.message.replace(suggestion, '');
}
