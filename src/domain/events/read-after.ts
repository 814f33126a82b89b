import type { Cursors } from '../../core/cursors.ts';
import { Refusal } from '../../core/refusal.ts';
import { isReadToken, latest } from '../../infra/database/replicas/read-token.ts';
import { positionOf } from './cursor.ts';

/** The header field with which a caller says what its reads must include, and which the answer to a write carries. */
export const readAfterHeader = 'payments-read-after';

/**
 * Parses what the reads of a request must include: the read token of a write; or `latest` or a cursor of the feed,
 * which both include everything, as without a token.
 * @throws Refusal INVALID_INPUT for anything else
 */
export function readAfterOf(cursors: Cursors, platformId: string, text: string): string | undefined {
  if (isReadToken(text)) return text;
  if (text === latest || positionOf(cursors, platformId, text)) return undefined;
  throw new Refusal('INVALID_INPUT', 'expected a read token, a cursor of the feed, or latest');
}
