import { RestError } from './errors.ts';

/**
 * Refuses text that cannot be stored or sent on: the zero character, and halves of characters outside the basic plane,
 * wherever in a body.
 * @throws RestError INVALID_INPUT that names every such field
 */
export function checkStorable(value: unknown): void {
  refuse(unstorable(value, []).map((path) => path.join('.') || 'body'));
}

/** The same for the parameters of a query, each with all the values that it was given. */
export function checkStorableQuery(parameters: Readonly<Record<string, readonly string[]>>): void {
  const wrong = Object.entries(parameters).filter(([name, values]) => ![name, ...values].every(isStorable));
  refuse(wrong.map(([name]) => (isStorable(name) ? name : 'query')));
}

function refuse(fields: readonly string[]): void {
  const errors = fields.map((field) => ({
    field,
    constraint: 'format',
    message: 'must be text without zero characters and halves of characters',
  }));
  if (errors.length > 0) {
    throw new RestError('INVALID_INPUT', errors.map((error) => `${error.field} ${error.message}`).join('; '), {
      errors,
    });
  }
}

/** The paths of such texts. A key can be one too. */
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
