import { BREAK, type DocumentNode, type ExecutionArgs, getOperationAST, getVariableValues, visit } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { keptCompiled } from './kept.ts';
import { planningContext } from './shared-plans.ts';

/** A query is compiled when it has been executed so often: by then it has cost more than compiling it would have. */
export const usesBeforeCompiling = 10;

/** Of a document with more operations than any app has, only so many are counted and compiled. */
const mostOperations = 50;

interface Use {
  count: number;
  isCompilable: boolean;
  /** Whether its last answer had errors: then the executor says the next one, too. */
  failed: boolean;
}

/** By document as the parser's cache keeps it, then by operation name. */
const uses = new WeakMap<DocumentNode, Map<string, Use>>();

/** What had to give way to other queries must first be worth compiling again. */
const compiledQueries = keptCompiled<Use, CompiledQuery>((use) => {
  use.count = 0;
});

/**
 * Executes queries that come again and again as compiled functions, with what was planned for them before. Mutations and
 * subscriptions, of which the execution is the least part, are left to the executor.
 */
export function useCompiledQueries(): Plugin {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const use = useOf(args);
      if (!use || !areGood(args)) return undefined;
      const compiled = compiledQuery(use, args);
      if (compiled) {
        setExecuteFn(async () => {
          if (!use.failed) {
            const result = await compiled.query(args.rootValue, planningContext(args), args.variableValues);
            if (!result.errors) return result;
          }
          // What goes wrong is said by the executor, so that errors are the same however often a document was asked.
          return executeFn(args);
        });
      }
      return {
        onExecuteDone({ result }) {
          use.failed = 'errors' in result;
        },
      };
    },
  };
}

/** How the query was used so far; undefined for operations of other kinds, and for too many of one document. */
function useOf({ document, operationName }: ExecutionArgs): Use | undefined {
  if (getOperationAST(document, operationName)?.operation !== 'query') return undefined;
  const operations = uses.get(document) ?? new Map<string, Use>();
  uses.set(document, operations);
  if (operations.size >= mostOperations && !operations.has(operationName ?? '')) return undefined;
  const use = operations.get(operationName ?? '') ?? { count: 0, isCompilable: true, failed: false };
  operations.set(operationName ?? '', use);
  use.count += 1;
  return use;
}

function compiledQuery(use: Use, { schema, document, operationName }: ExecutionArgs): CompiledQuery | undefined {
  const known = compiledQueries.get(use);
  if (known || !use.isCompilable || use.count <= usesBeforeCompiling) return known;
  const compiled = hasConditions(document)
    ? undefined
    : compileQuery(schema, document, operationName ?? undefined, { disablingCapturingStackErrors: true });
  if (!compiled || !isCompiledQuery(compiled)) {
    use.isCompilable = false;
    return undefined;
  }
  compiledQueries.set(use, compiled, document);
  return compiled;
}

/**
 * Whether fields are taken in or left out by @skip and @include. Compiled queries get wrong what is asked for twice, once
 * with such a condition, and the order of what is left.
 */
function hasConditions(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive({ name }) {
      found ||= name.value === 'skip' || name.value === 'include';
      return found ? BREAK : undefined;
    },
  });
  return found;
}

/**
 * Whether graphql-js itself takes the variables. It knows @oneOf, which compiled queries do not, and the executor says
 * what is wrong with bad ones in its own words, so that a document's errors do not change when it is compiled.
 */
function areGood({ schema, document, operationName, variableValues }: ExecutionArgs): boolean {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  return (
    definitions.length === 0 ||
    'coerced' in getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: 1 })
  );
}
