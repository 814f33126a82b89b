import type { Cursors } from '../../core/cursors.ts';
import { invalid } from '../../core/refusal.ts';
import { isReadToken, latest } from '../../infra/database/replicas/read-token.ts';
import { positionOf } from './cursor.ts';

/** The header field in which a caller says what its reads must include. The response to a write has it, too. */
export const readAfterHeader = 'payments-read-after';

/**
 * Parses the header field: the read token of a write, which the reads must include. For `latest` and for a cursor of
 * the feed it returns undefined: the reads then include everything, as they do without the header.
 * @throws Refusal INVALID_INPUT for anything else
 */
export function readAfterOf(cursors: Cursors, platformId: string, text: string): string | undefined {
  if (isReadToken(text)) return text;
  if (text === latest || positionOf(cursors, platformId, text)) return undefined;
  throw invalid('expected a read token, a cursor of the feed, or latest');
}
