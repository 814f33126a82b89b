import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import { documentBudget } from '../limits/budget.ts';
import { measureDocument } from '../limits/document-size.ts';
import { TextAnswer } from '../reading/text-answer.ts';

/** What a document costs and how large it is, beside the limits (`DocumentSize`). */
interface CostReport {
  readonly cost: number;
  readonly limit: number;
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly limits: { readonly depth: number; readonly fields: number; readonly aliases: number };
}

/**
 * Reports in `extensions.cost` of an answer what its document costs: of every answer with `always`, else where the request asks for it with
 * `"extensions": { "cost": true }`, which all transports carry. A subscription reports it with its first result only.
 */
export function useCostReport({ always }: { readonly always: boolean }): Plugin {
  const isAsked = ({ extensions }: Params) => always || extensions?.cost === true;
  return {
    onExecute({ args }) {
      const params = paramsOf(args);
      if (!isAsked(params)) return undefined;
      const cost = reportOn(args, params);
      return {
        onExecuteDone({ result, setResult }) {
          if (!isAsyncIterable(result)) setResult(withReport(result, cost));
        },
      };
    },
    onSubscribe({ args }) {
      const params = paramsOf(args);
      if (!isAsked(params)) return undefined;
      const cost = reportOn(args, params);
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) {
            setResult(withReport(result, cost));
            return undefined;
          }
          let isFirst = true;
          return {
            onNext({ result, setResult }) {
              if (isFirst) setResult(withReport(result, cost));
              isFirst = false;
            },
          };
        },
      };
    },
  };
}

type Params = YogaInitialContext['params'];

/** Every transport puts them into the context (use-budget.ts); Envelop leaves it untyped. */
function paramsOf({ contextValue }: { readonly contextValue?: unknown }): Params {
  return (contextValue as YogaInitialContext).params;
}

function reportOn({ schema, document }: Pick<ExecutionArgs, 'schema' | 'document'>, params: Params): CostReport {
  const { operationName, variables } = params;
  const { cost, depth, fields, aliases } = measureDocument({ schema, document, operationName, variables }).size;
  const { cost: limit, ...others } = documentBudget;
  const limits = { depth: others.depth, fields: others.fields, aliases: others.aliases };
  return { cost, limit, depth, fields, aliases, limits };
}

function withReport(result: ExecutionResult, cost: CostReport): ExecutionResult {
  if (result instanceof TextAnswer) return result.with({ cost });
  return { ...result, extensions: { ...result.extensions, cost } };
}
