import { type ASTVisitor, type DocumentNode, GraphQLError, type ParseOptions, type Source } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { budgetExceeded, checkBudget, mostTokensParsed } from '../limits/budget.ts';

/** Validation gives up after this many errors: an invalid document earns no more work than a valid one. */
const maxValidationErrors = 10;

/**
 * Holds every document to `documentBudget` and, where `introspection` is off, keeps the schema to itself: no `__schema`, no `__type`, no suggestions.
 *
 * Uses envelop hooks only, so it works the same behind Yoga and behind a socket that takes `parse` and `validate` from `getEnveloped`.
 * Both must put `params` (query, variables, operationName, extensions) into the context they start from. More tokens than are parsed are thrown by
 * `parse`, as any syntax error is; every other refusal is returned by `validate`, which then runs no rule at all.
 */
export function useBudget({ introspection }: { readonly introspection: boolean }): Plugin {
  const plugin: Plugin = {
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: string | Source, options?: ParseOptions): DocumentNode => {
        try {
          return parseFn(source, { ...options, maxLexicalTokens: mostTokensParsed });
        } catch (error) {
          throw isTokenLimit(error) ? budgetExceeded('tokens') : error;
        }
      });
    },

    onValidate({ params, context, validateFn, setValidationFn, addValidationRule, setResult }) {
      // The types promise it, but a socket builds this context by hand: without variables the cost would be a guess.
      if (context.params === undefined) throw new Error('useBudget needs `params` in the context.');
      const { operationName, variables } = context.params;
      const { schema, documentAST: document } = params;
      const refusals = checkBudget({ schema, document, operationName, variables, introspection });
      if (refusals.length === 0) {
        // The fourth argument as graphql-js has it; envelop's own callers pass nothing there.
        setValidationFn((schema, document, rules) =>
          validateFn(schema, document, rules, { maxErrors: maxValidationErrors, hideSuggestions: !introspection }),
        );
        return undefined;
      }
      // Yoga caches a document's validation errors by the names of the rules, whatever its variables are. The extra rule gives refusals a place
      // of their own there, so that they neither hide behind a good result nor spoil it; being set afterwards, they are always this request's.
      addValidationRule(withinBudget);
      setResult(refusals);
      return ({ setResult }) => setResult(refusals);
    },
  };
  return introspection ? plugin : { ...plugin, ...withoutSuggestions };
}

/** Named for the validation cache, and empty: the counting is done by the time rules could run. */
function withinBudget(): ASTVisitor {
  return {};
}

/** graphql-js tells this syntax error from others by its text alone (with a typo, "more that", that may get mended). */
function isTokenLimit(error: unknown): boolean {
  return (
    error instanceof GraphQLError && /^Syntax Error: Document contains more tha[tn] \d+ tokens\./.test(error.message)
  );
}

/** Variables are coerced by the executor, which under graphql 16 suggests enum values whatever `hideSuggestions` says: such errors come without `data`. */
const withoutSuggestions: Pick<Plugin, 'onExecute' | 'onSubscribe'> = {
  onExecute: () => ({ onExecuteDone: ({ result }) => removeSuggestions(result) }),
  onSubscribe: () => ({ onSubscribeResult: ({ result }) => removeSuggestions(result) }),
};

/** graphql-js ends a message with one sentence: ` Did you mean "a", "b", or "c"?` */
const suggestion = / Did you mean [^?]+\?$/;

function removeSuggestions(result: object): void {
  if (!('errors' in result) || 'data' in result || !Array.isArray(result.errors)) return;
  for (const error of result.errors) {
    if (error instanceof GraphQLError) error.message = error.message.replace(suggestion, '');
  }
}
