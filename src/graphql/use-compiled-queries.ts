import { setFlagsFromString } from 'node:v8';
import { BREAK, type DocumentNode, type ExecutionArgs, getOperationAST, getVariableValues, visit } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { sharePlans } from './shared-plans.ts';

/** A document is compiled when it has been executed so often: what is asked once is not worth it. */
const usesBeforeCompiling = 1;

/** A document of more operations than any app has keeps no more compiled than this. */
const mostOperations = 50;

interface Use {
  count: number;
  /** Undefined until it is compiled; null where it cannot be. */
  compiled?: CompiledQuery | null;
  /** Whether its last answer had errors: then the executor says the next one, too. */
  failed: boolean;
}

/** By document as the parser's cache keeps it, then by operation name. */
const uses = new WeakMap<DocumentNode, Map<string, Use>>();

/**
 * Executes queries that come again and again as compiled functions, with what was planned for them before. Mutations and
 * subscriptions, of which the execution is the least part, are left to the executor.
 */
export function useCompiledQueries(): Plugin {
  // V8 would keep what was compiled from texts by these texts, through several collections of its garbage: some 30 KiB for
  // each query that was in use once. Queries that are, are kept here.
  setFlagsFromString('--no-compilation-cache');
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const use = useOf(args);
      const compiled = use && compiledQuery(use, args);
      if (!compiled || !areGood(args)) return;
      sharePlans(args);
      setExecuteFn(async () => {
        if (!use.failed) {
          const result = await compiled.query(args.rootValue, args.contextValue, args.variableValues);
          if (!result.errors) return result;
        }
        // What goes wrong is said by the executor, so that errors are the same however often a document was asked.
        const result = await executeFn(args);
        use.failed = 'errors' in result;
        return result;
      });
    },
  };
}

/** How the query was used so far; undefined for operations of other kinds, and for too many of one document. */
function useOf({ document, operationName }: ExecutionArgs): Use | undefined {
  if (getOperationAST(document, operationName)?.operation !== 'query') return undefined;
  const operations = uses.get(document) ?? new Map<string, Use>();
  uses.set(document, operations);
  if (operations.size >= mostOperations && !operations.has(operationName ?? '')) return undefined;
  const use = operations.get(operationName ?? '') ?? { count: 0, failed: false };
  operations.set(operationName ?? '', use);
  use.count += 1;
  return use;
}

function compiledQuery(use: Use, { schema, document, operationName }: ExecutionArgs): CompiledQuery | undefined {
  if (use.compiled === undefined && use.count > usesBeforeCompiling) {
    const compiled = hasConditions(document)
      ? null
      : compileQuery(schema, document, operationName ?? undefined, { disablingCapturingStackErrors: true });
    use.compiled = compiled && isCompiledQuery(compiled) ? compiled : null;
  }
  return use.compiled ?? undefined;
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
