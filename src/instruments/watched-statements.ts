import { currentTrace } from './request-facts.ts';
import { beginSpan, hasSpan } from './spans.ts';

/** The most characters of a statement that its span has. */
const textLength = 1_000;

/** Whether somebody wants to know which statements are sent now: the trace of a request, or a span. */
export function watchesStatements(): boolean {
  return currentTrace() !== undefined || hasSpan();
}

/** Begins a statement for whoever wants to know, and returns the function to call with its result or its error. */
export function beginStatement(
  name: string | undefined,
  text: string,
): ((error: unknown, rows?: number | null) => void) | undefined {
  const noted = currentTrace()?.begin(name, text);
  const ended = beginSpan(name || 'sql', {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, textLength) },
  });
  if (!ended) return noted;
  return (error, rows = null) => {
    noted?.(error, rows);
    ended(error, rows === null ? {} : { 'db.response.returned_rows': rows });
  };
}
