import { checkAll } from '../../core/check-all.ts';
import { isPlainText } from '../../core/checks.ts';
import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Caller } from '../access/caller.ts';

/** Key-value pairs that a platform stores on its own records (decision 69). The service does not interpret them. */
export type Metadata = Readonly<Record<string, string>>;

/** The bounds of metadata: entries, characters of a key, and characters of a value. */
const maxEntries = 20;
const maxKeyLength = 40;
const maxValueLength = 500;

/**
 * Checks given metadata, all of its entries, and returns its column: null for none, undefined where nothing was given.
 * Only platforms give it, so that their servers can rely on what they find there.
 * @throws Refusal INVALID_INPUT with the path of the entry; FORBIDDEN for an app
 */
export function checkMetadata(
  caller: Pick<Caller, 'kind'>,
  given: Metadata | null | undefined,
  path: FieldPath,
): { [key: string]: string } | null | undefined {
  if (!given) return undefined;
  if (caller.kind === 'CLIENT') {
    throw new Refusal('FORBIDDEN', 'metadata is for platforms to set, not for client tokens', path);
  }
  const entries = Object.entries(given);
  if (entries.length > maxEntries) {
    throw new Refusal('INVALID_INPUT', `metadata has at most ${maxEntries} entries`, path);
  }
  checkAll(
    ...entries.map(
      ([key, value]) =>
        () =>
          checkEntry(key, value, [...path, key]),
    ),
  );
  return entries.length > 0 ? { ...given } : null;
}

function checkEntry(key: string, value: string, path: FieldPath): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(key) || key.length > maxKeyLength) {
    throw new Refusal(
      'INVALID_INPUT',
      `a key has 1 to ${maxKeyLength} letters, digits, dots, hyphens and underscores, and begins with a letter or digit`,
      path,
    );
  }
  if (value.length > maxValueLength || !isPlainText(value)) {
    throw new Refusal(
      'INVALID_INPUT',
      `a value has at most ${maxValueLength} characters, without control characters and unpaired surrogates`,
      path,
    );
  }
}
