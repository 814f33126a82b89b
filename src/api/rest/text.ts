import { RestError } from './errors.ts';

/**
 * Refuses a body with text that cannot be stored or sent on: NUL characters and unpaired surrogates.
 * @throws RestError INVALID_INPUT that names every such field
 */
export function checkStorable(value: unknown): void {
  refuse(unstorable(value, []).map((path) => path.join('.') || 'body'));
}

/** Checks the parameters of a query in the same way, each with all its values. */
export function checkStorableQuery(parameters: Readonly<Record<string, readonly string[]>>): void {
  const invalid = Object.entries(parameters).filter(([name, values]) => ![name, ...values].every(isStorable));
  refuse(invalid.map(([name]) => (isStorable(name) ? name : 'query')));
}

function refuse(fields: readonly string[]): void {
  const errors = fields.map((field) => ({
    field,
    constraint: 'format',
    message: 'must be text without NUL characters and unpaired surrogates',
  }));
  if (errors.length > 0) {
    throw new RestError('INVALID_INPUT', errors.map((error) => `${error.field} ${error.message}`).join('; '), {
      errors,
    });
  }
}

/** Finds the paths of text that cannot be stored, also in the keys of objects. */
function unstorable(value: unknown, path: readonly string[]): (readonly string[])[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    isStorable(key) ? unstorable(item, [...path, key]) : [[...path, 'key']],
  );
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
