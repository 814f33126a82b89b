import type { GraphQLError } from 'graphql';
import { maxListLength } from '../../core/checks.ts';
import { dotted, type FieldPath, Refusal, type RefusalCode } from '../../core/refusal.ts';
import { invalidInput } from './failure.ts';

/**
 * Marks a value that its scalar cannot parse. If the scalar threw an error, GraphQL would reject the whole document.
 * Instead, a mutation refuses the value like any other invalid field, and any other field reports it as its own error.
 */
export class WrongValue {
  readonly code: RefusalCode;
  readonly message: string;

  constructor(code: RefusalCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** Returns one refusal for all wrong values and overlong lists in a mutation's input, if there are any. */
export function wrongValuesRefusal(input: unknown): Refusal | undefined {
  const errors = [...wrongValuesIn(input)].map(({ path, value: { code, message } }) => ({ path, code, message }));
  const [first] = errors;
  if (!first) return undefined;
  const code = errors.every((error) => error.code === first.code) ? first.code : 'INVALID_INPUT';
  const message = [...new Set(errors.map((error) => error.message))].join('; ');
  return new Refusal(code, message, { path: first.path, errors });
}

/** Returns the error for the first wrong value or overlong list in a field's arguments, if there is one. */
export function wrongArgument(args: object): GraphQLError | undefined {
  const [first] = wrongValuesIn(args);
  return first && invalidInput(first.value.message, dotted(first.path));
}

function* wrongValuesIn(value: unknown, path: FieldPath = []): Generator<{ path: FieldPath; value: WrongValue }> {
  if (value instanceof WrongValue) yield { path, value };
  else if (Array.isArray(value) && value.length > maxListLength) {
    const message = `${dotted(path)} has ${value.length} values; at most ${maxListLength} are allowed`;
    yield { path, value: new WrongValue('INVALID_INPUT', message) };
  } else if (Array.isArray(value)) {
    for (const [position, item] of value.entries()) yield* wrongValuesIn(item, [...path, position]);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    for (const [name, item] of Object.entries(value)) yield* wrongValuesIn(item, [...path, name]);
  }
}
