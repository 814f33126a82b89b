import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../context.ts';
import { NotSequenced } from './finish.ts';
import { NotPlanned } from './plan.ts';
import { type Plan, planOf, runPlan } from './run.ts';

/** An answer that the database has made whole. It is sent as it is; who needs it as data reads it from there. */
export class TextAnswer implements ExecutionResult {
  readonly #json: string;

  /** @param json the answer's `data` */
  constructor(json: string) {
    this.#json = json;
  }

  get data(): Record<string, unknown> {
    return JSON.parse(this.#json);
  }

  /** The whole answer, as JSON. */
  get text(): string {
    return `{"data":${this.#json}}`;
  }
}

/** How long a change that is committed and not sequenced yet is waited for: it takes a few milliseconds. */
const sequencedMs = 2_000;

/**
 * Answers queries of which the database can make the whole answer by one statement. All else, and whatever goes wrong, is
 * left to the executor, which says what is wrong.
 */
export function usePlans(): Plugin<Context> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      if (process.env.PLANS === 'off') return;
      const context: Context = args.contextValue;
      if (!context.viewer.permissions.includes('VIEW')) return;
      const plan = planOf(args);
      if (!plan) return;
      setExecuteFn(async () => (await textAnswer(plan, args, context)) ?? executeFn(args));
    },
  };
}

async function textAnswer(plan: Plan, args: ExecutionArgs, context: Context): Promise<TextAnswer | undefined> {
  const { viewer, feed } = context;
  const { database } = context.payments;
  const deadline = Date.now() + sequencedMs;
  for (;;) {
    try {
      return new TextAnswer(await runPlan(plan, args, { database, viewer }));
    } catch (error) {
      const left = deadline - Date.now();
      if (!(error instanceof NotSequenced)) {
        if (process.env.PLAN_ERRORS) console.error(String(error));
        return undefined;
      }
      if (left <= 0) return undefined;
      await feed.moved(Math.min(left, 50));
    }
  }
}

export { NotPlanned };
