import { type ExecutionArgs, getOperationAST } from 'graphql';
import { documentBudget } from '../limits/budget.ts';
import { measureDocument } from '../limits/document-size.ts';

/** The cost and size of a document, with their limits (`DocumentSize`). */
export interface CostReport {
  readonly cost: number;
  readonly limit: number;
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly limits: { readonly depth: number; readonly fields: number; readonly aliases: number };
}

/** Measures the document of an operation for `extensions.cost`. */
export function costReport({ schema, document, operationName, variableValues }: ExecutionArgs): CostReport {
  const { size } = measureDocument({ schema, document, operationName, variables: variableValues });
  const { cost, depth, fields, aliases } = size;
  const { cost: limit, ...others } = documentBudget;
  const limits = { depth: others.depth, fields: others.fields, aliases: others.aliases };
  return { cost, limit, depth, fields, aliases, limits };
}

/** The cost of a document from which on it is expensive: a list of a hundred rows with a few fields of each. */
const expensiveCost = 500;

/** Tells whether an operation is a query that costs so much that others feel it. */
export function isExpensive(args: ExecutionArgs): boolean {
  if (getOperationAST(args.document, args.operationName)?.operation !== 'query') return false;
  return costReport(args).cost >= expensiveCost;
}
