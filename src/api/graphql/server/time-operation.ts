import { type ExecutionResult, Kind, type OperationDefinitionNode } from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { requestSeconds } from '../../../infra/instruments/instruments.ts';
import { noteOperation } from '../../../infra/instruments/request-facts.ts';
import { inSpan } from '../../../infra/instruments/spans.ts';
import { TooLate, within } from '../../../infra/instruments/within.ts';
import type { Prepared } from '../context.ts';
import { failure } from '../failure.ts';
import { TextAnswer } from '../reading/run.ts';

/** Executes a valid operation in a span. Records its duration, by its root field and the code of its first error. */
export async function timeOperation(
  { operation: node, operationName }: Prepared,
  execute: () => Promise<ExecutionResult | TextAnswer>,
): Promise<ExecutionResult | TextAnswer> {
  const operation = labelOf(node);
  noteOperation(operation);
  const end = requestSeconds.startTimer({ api: 'graphql', operation });
  const answer = await inSpan(operation, { attributes: { 'graphql.operation.name': operationName ?? '' } }, execute);
  const code = answer instanceof TextAnswer ? undefined : answer.errors?.[0]?.extensions.code;
  end({ code: typeof code === 'string' ? code : 'ok' });
  return answer;
}

/** Returns an operation's kind, and its root field's name in the schema or "several", so that there are few labels. */
const labelOf = oncePer(({ operation, selectionSet: { selections } }: OperationDefinitionNode) => {
  const [first, ...others] = selections;
  return `${operation} ${first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several'}`;
});

/**
 * Returns the result of a query, a mutation, or opening a stream, or TIMEOUT if it takes longer than `limitMs`. The
 * database ends statements after 10 s; a mutation may still take effect.
 * @param on.onLateResult called with a result that arrives after the limit
 */
export function withTimeLimit<Result>(
  work: Promise<Result>,
  limitMs: number,
  on: { readonly onTimeout?: () => void; readonly onLateResult?: (result: Result) => void },
): Promise<Result | ExecutionResult> {
  return within(limitMs, work).catch((error: unknown) => {
    if (!(error instanceof TooLate)) throw error;
    on.onTimeout?.();
    work.then(on.onLateResult, () => undefined);
    const message = `the operation took longer than ${Math.round(limitMs)} ms; to find out whether a mutation took effect, query mutationReceipt or repeat it with the same idempotencyKey`;
    return { errors: [failure('TIMEOUT', message, { status: 504 })] };
  });
}
