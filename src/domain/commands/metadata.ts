import { checkEach, type FieldPath, invalid, Refusal } from '../../core/refusal.ts';
import { canonicalText, longest, textFault } from '../../core/texts.ts';
import type { Caller } from '../access/caller.ts';

/** Key-value pairs that a platform stores on its own records (decision 69). The service does not interpret them. */
export type Metadata = Readonly<Record<string, string>>;

export const maxEntries = 20;
const maxKeyLength = 40;

/**
 * Returns the value for the column: null without entries, undefined if no metadata is given. Only platforms may set it,
 * so that their servers can rely on it. @throws Refusal INVALID_INPUT with the entry's path; FORBIDDEN for an app
 */
export function checkMetadata(caller: Pick<Caller, 'kind'>, given: Metadata | null | undefined, path: FieldPath) {
  if (!given) return undefined;
  if (caller.kind === 'CLIENT') {
    throw new Refusal('FORBIDDEN', 'metadata can be set with an API token only, not with a client token', path);
  }
  const entries = Object.entries(given).map(([key, value]) => [key, canonicalText(value)] as const);
  if (entries.length > maxEntries) throw invalid(`metadata can have at most ${maxEntries} entries`, path);
  checkEach(entries, ([key, value]) => checkEntry(key, value, [...path, key]));
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

function checkEntry(key: string, value: string, path: FieldPath): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(key) || key.length > maxKeyLength) {
    const message = `a key must be 1 to ${maxKeyLength} letters, digits, dots, hyphens and underscores, and begin with a letter or digit`;
    throw invalid(message, path);
  }
  const fault = value === '' ? undefined : textFault(value, longest.memo);
  if (fault !== undefined) throw invalid(`the value ${fault}`, path);
}
