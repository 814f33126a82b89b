import { type DocumentNode, type ExecutionArgs, type ExecutionResult, getOperationAST, Kind } from 'graphql';
import { requestSeconds } from '../../../infra/instruments/instruments.ts';
import { noteOperation } from '../../../infra/instruments/request-facts.ts';
import { inSpan } from '../../../infra/instruments/spans.ts';
import { failure } from '../failure.ts';
import { TextAnswer } from '../reading/text-answer.ts';

/** The labels of documents that are sent without an operation name. Most requests repeat a document. */
const labels = new WeakMap<DocumentNode, string>();

/** Executes a valid operation in a span, and records its duration by its root field and the code of its first error. */
export async function timeOperation<Answer extends ExecutionResult | TextAnswer>(
  args: ExecutionArgs,
  execute: () => Promise<Answer>,
): Promise<Answer> {
  const operation = labelOf(args);
  noteOperation(operation);
  const end = requestSeconds.startTimer({ api: 'graphql', operation });
  const answer = await inSpan(
    operation,
    { attributes: { 'graphql.operation.name': args.operationName ?? '' } },
    execute,
  );
  const code = answer instanceof TextAnswer ? undefined : answer.errors?.[0]?.extensions.code;
  end({ code: typeof code === 'string' ? code : 'ok' });
  return answer;
}

/** Returns an operation's kind, and its root field's name in the schema or "several", so that there are few labels. */
function labelOf({ document, operationName }: ExecutionArgs): string {
  const known = labels.get(document);
  if (known !== undefined) return known;
  const operation = getOperationAST(document, operationName);
  const [first, ...others] = operation?.selectionSet.selections ?? [];
  const field = first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several';
  const label = `${operation?.operation} ${field}`;
  if (operationName == null) labels.set(document, label);
  return label;
}

/**
 * Returns the result of an operation, or TIMEOUT if it takes longer than `limitMs`: a query, a mutation, or opening
 * a stream (an open one has no limit). The database ends statements after 10 s; a mutation may still take effect.
 * @param on.onTimeout called when the time limit is reached
 * @param on.onLateResult called with a result that arrives after the limit
 */
export function withTimeLimit<Result>(
  work: Promise<Result>,
  limitMs: number,
  on: { readonly onTimeout?: () => void; readonly onLateResult?: (result: Result) => void } = {},
): Promise<Result | ExecutionResult> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      on.onTimeout?.();
      const message = `the operation took longer than ${Math.round(limitMs)} ms; to find out whether a mutation took effect, query mutationReceipt or repeat it with the same idempotencyKey`;
      resolve({ errors: [failure('TIMEOUT', message, { status: 504 })] });
    }, limitMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        if (isLate) on.onLateResult?.(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
