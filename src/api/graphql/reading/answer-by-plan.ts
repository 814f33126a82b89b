import type { ExecutionArgs } from 'graphql';
import type { Context } from '../context.ts';
import { planQuery, recordFault, runQuery } from './run.ts';
import { LeftToExecutor } from './selected.ts';
import { TextAnswer } from './text-answer.ts';

/**
 * Answers a query by one statement, where the database can make the whole answer. Returns undefined for all other operations,
 * and where the statement fails: the executor then runs the operation, and reports errors with their locations.
 */
export async function answerByPlan(args: ExecutionArgs, context: Context): Promise<TextAnswer | undefined> {
  if (!context.viewer.permissions.includes('VIEW')) return undefined;
  const plan = planQuery(args);
  if (!plan) return undefined;
  try {
    return new TextAnswer(await runQuery(plan, args, context));
  } catch (error) {
    if (!(error instanceof LeftToExecutor)) recordFault(context, error);
    return undefined;
  }
}
