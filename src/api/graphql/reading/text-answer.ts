import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Context } from '../context.ts';
import { LeftToExecutor } from './page.ts';
import { planQuery, recordFault, runQuery } from './run.ts';

type Extensions = NonNullable<ExecutionResult['extensions']>;

/** An answer written entirely by the database: its text is sent unchanged, and parsed only if it is needed as data. */
export class TextAnswer {
  readonly #data: string;
  readonly #extensions: Extensions | undefined;

  constructor(data: string, extensions?: Extensions) {
    this.#data = data;
    this.#extensions = extensions;
  }

  get text(): string {
    return this.#extensions === undefined
      ? `{"data":${this.#data}}`
      : `{"data":${this.#data},"extensions":${JSON.stringify(this.#extensions)}}`;
  }

  get result(): ExecutionResult {
    return { data: JSON.parse(this.#data), ...(this.#extensions && { extensions: this.#extensions }) };
  }

  with(extensions: Extensions): TextAnswer {
    return new TextAnswer(this.#data, extensions);
  }
}

/**
 * Answers a query with one statement, if the database can produce the whole answer. Returns undefined for other
 * operations and if the statement fails: the executor then runs the operation, and reports errors with locations.
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
