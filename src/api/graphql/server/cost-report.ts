import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { documentBudget } from '../limits/budget.ts';
import { measureDocument } from '../limits/document-size.ts';
import { TextAnswer } from '../reading/run.ts';

/** Measures an operation's document for `extensions.cost`: its cost and size, with their limits (`DocumentSize`). */
export function costReport({ schema, document, operationName, variableValues }: ExecutionArgs) {
  const { size } = measureDocument({ schema, document, operationName, variables: variableValues });
  const { cost, depth, fields, aliases } = size;
  const { cost: limit, depth: mostDepth, fields: mostFields, aliases: mostAliases } = documentBudget;
  return {
    cost,
    limit,
    depth,
    fields,
    aliases,
    limits: { depth: mostDepth, fields: mostFields, aliases: mostAliases },
  };
}

/** Adds a document's cost to its response, as `extensions.cost`. */
export function withCost(answer: ExecutionResult | TextAnswer, args: ExecutionArgs): ExecutionResult | TextAnswer {
  const cost = costReport(args);
  return answer instanceof TextAnswer
    ? answer.with({ cost })
    : { ...answer, extensions: { ...answer.extensions, cost } };
}

/** The highest document cost that counts as one request: one read of twenty rows with twenty fields each. */
const includedCost = 800;

const costOfRequest = 500;

/** Returns how many requests a document of this cost counts as under the rate limit: at least one. */
export function requestsForCost(cost: number): number {
  return 1 + Math.max(0, Math.ceil((cost - includedCost) / costOfRequest));
}
