import type { Answer } from '../setup/gateway.ts';
import { type Expected, isSame, type PlainError } from './plain-executor.ts';

/**
 * Returns where an answer differs from the expected one, or undefined. `data` must be equal to the byte. Errors must have the
 * same paths and codes, except that the specification requires only one of those below one null.
 */
export function differenceOf(expected: Expected, answer: Omit<Answer, 'status'>): string | undefined {
  const { data, errors = [] } = answer;
  const met: PlainError[] = errors.map(({ path = [], extensions }) => ({ path, code: String(extensions?.code) }));
  const inside = [...met, ...expected.errors].find(({ code }) => code === 'INTERNAL_SERVER_ERROR');
  if (inside) return `an error inside, at ${JSON.stringify(inside.path)}`;
  const unlike = unlikeAt(expected.data, data);
  if (unlike) return `data differs at ${unlike}`;
  const unknown = met.find((one) => !expected.errors.some((error) => isSame(one, error)));
  if (unknown) return `an error that nothing explains: ${JSON.stringify(unknown)}`;
  const missing = groups(expected).find((group) => !group.some((error) => met.some((one) => isSame(one, error))));
  return missing && `no error for ${JSON.stringify(missing)}`;
}

/** The errors, those together that null the same part of the data. */
function groups({ data, errors }: Expected): PlainError[][] {
  const byNull = new Map<string, PlainError[]>();
  for (const error of errors) {
    const place = JSON.stringify(nulled(data, error.path));
    byNull.set(place, [...(byNull.get(place) ?? []), error]);
  }
  return [...byNull.values()];
}

/** Where on the way to a path the data is null. */
function nulled(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let at = data;
  for (const [length, key] of path.entries()) {
    if (at === null || at === undefined) return path.slice(0, length);
    at = (at as Record<string | number, unknown>)[key];
  }
  return path;
}

/** The path of the first difference, with the values of both sides. The order of fields counts. */
function unlikeAt(expected: unknown, actual: unknown, path = ''): string | undefined {
  if (expected === actual) return undefined;
  if (!isObject(expected) || !isObject(actual)) {
    return `${path || 'the root'}: ${JSON.stringify(expected)} was expected, ${JSON.stringify(actual)} was answered`;
  }
  const [keys, others] = [Object.keys(expected), Object.keys(actual)];
  if (keys.join() !== others.join()) return `${path || 'the root'}: fields ${keys} were expected, ${others} answered`;
  for (const key of keys) {
    const found = unlikeAt(expected[key], actual[key], `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
