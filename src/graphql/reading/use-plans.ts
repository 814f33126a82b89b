import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../context.ts';
import { NotPlanned } from './asked.ts';
import { meetFault, planQuery, type QueryPlan, runQuery } from './run.ts';
import { TextAnswer } from './text-answer.ts';

/**
 * Answers queries whose whole answer the database can make, by one statement. All else is left to the executor, and so is what
 * goes wrong: it says what is wrong, and where.
 */
export function usePlans(): Plugin<Context> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: Context = args.contextValue;
      if (!context.viewer.permissions.includes('VIEW')) return;
      const plan = planQuery(args);
      if (plan) setExecuteFn(async () => (await textAnswer(plan, args, context)) ?? executeFn(args));
    },
  };
}

async function textAnswer(
  plan: QueryPlan,
  args: ExecutionArgs,
  context: Context,
): Promise<ExecutionResult | undefined> {
  try {
    return new TextAnswer(await runQuery(plan, args, context));
  } catch (error) {
    if (!(error instanceof NotPlanned)) meetFault(context, error);
    return undefined;
  }
}
