import type { ExecutionArgs } from 'graphql';
import type { Context } from '../context.ts';
import { planQuery, recordFault, runQuery } from './run.ts';
import { NotPlanned } from './selected.ts';
import { TextAnswer } from './text-answer.ts';

/**
 * Answers a query whose whole answer the database can make, by one statement. Undefined for all else, which is left to the
 * executor, and for what goes wrong: the executor says what is wrong, and where.
 */
export async function answerByPlan(args: ExecutionArgs, context: Context): Promise<TextAnswer | undefined> {
  if (!context.viewer.permissions.includes('VIEW')) return undefined;
  const plan = planQuery(args);
  if (!plan) return undefined;
  try {
    return new TextAnswer(await runQuery(plan, args, context));
  } catch (error) {
    if (!(error instanceof NotPlanned)) recordFault(context, error);
    return undefined;
  }
}
