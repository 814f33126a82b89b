import type { Answer } from '../setup/gateway.ts';

/** The members of an error that clients act on. */
interface KnownError {
  readonly path: readonly (string | number)[];
  readonly code: string;
}

/**
 * Describes how a response differs from the expected one, or returns undefined if it does not. `data` must be identical
 * byte for byte. If several errors occur below the same null, the specification requires only one of them to be
 * reported. So if one response has an error, the other must have an error for the same null, and two errors with the
 * same path must be equal.
 */
export function differenceOf(expected: Partial<Answer>, answer: Partial<Answer>): string | undefined {
  const [wanted, met] = [errorsOf(expected), errorsOf(answer)];
  const inside = [...met, ...wanted].find(({ code }) => code === 'INTERNAL_SERVER_ERROR');
  if (inside) return `an internal error at ${JSON.stringify(inside.path)}`;
  if (JSON.stringify(expected.data) !== JSON.stringify(answer.data)) return 'the data differs';
  const placeOf = ({ path }: KnownError) => JSON.stringify(nulled(answer.data, path));
  const isExplained = (one: KnownError, by: readonly KnownError[]) =>
    by.some((other) => placeOf(one) === placeOf(other) && (one.code === other.code || !isAtSamePath(one, other)));
  const unknown = met.find((one) => !isExplained(one, wanted));
  if (unknown) return `an unexpected error: ${JSON.stringify(unknown)}`;
  const missing = wanted.find((one) => !isExplained(one, met));
  return missing && `a missing error: ${JSON.stringify(missing)}`;
}

const errorsOf = ({ errors = [] }: Partial<Answer>): KnownError[] =>
  errors.map(({ path = [], extensions }) => ({ path, code: String(extensions?.code) }));

const isAtSamePath = (one: KnownError, other: KnownError) => JSON.stringify(one.path) === JSON.stringify(other.path);

/** Returns the part of a path up to its first null in the data, or the whole path if there is none. */
function nulled(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let at = data;
  for (const [length, key] of path.entries()) {
    if (at === null || at === undefined) return path.slice(0, length);
    at = (at as Record<string | number, unknown>)[key];
  }
  return path;
}
