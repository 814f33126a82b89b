import { type DocumentNode, type ExecutionArgs, getOperationAST, getVariableValues } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { sharePlans } from './shared-plans.ts';

/** A document is compiled when it has been executed so often: what is asked once is not worth it. */
const usesBeforeCompiling = 1;

interface Use {
  count: number;
  /** Undefined until it is compiled; null where it cannot be. */
  compiled?: CompiledQuery | null;
}

/** By document as the parser's cache keeps it, then by operation name. */
const uses = new WeakMap<DocumentNode, Map<string, Use>>();

/**
 * Executes queries that come again and again as compiled functions, with what was planned for them before. Mutations and subscriptions, of which the execution
 * is the least part, are left to the executor.
 */
export function useCompiledQueries(): Plugin {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const compiled = compiledQuery(args);
      if (!compiled || !areGood(args)) return;
      sharePlans(args);
      setExecuteFn(async () => {
        const result = await compiled.query(args.rootValue, args.contextValue, args.variableValues);
        // What goes wrong is said by the executor, so that errors are the same however often a document was asked.
        return result.errors ? executeFn(args) : result;
      });
    },
  };
}

function compiledQuery({ schema, document, operationName }: ExecutionArgs): CompiledQuery | undefined {
  if (getOperationAST(document, operationName)?.operation !== 'query') return undefined;
  const operations = uses.get(document) ?? new Map<string, Use>();
  uses.set(document, operations);
  const use = operations.get(operationName ?? '') ?? { count: 0 };
  operations.set(operationName ?? '', use);
  use.count += 1;
  if (use.compiled === undefined && use.count > usesBeforeCompiling) {
    const compiled = compileQuery(schema, document, operationName ?? undefined, {
      disablingCapturingStackErrors: true,
    });
    use.compiled = isCompiledQuery(compiled) ? compiled : null;
  }
  return use.compiled ?? undefined;
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
