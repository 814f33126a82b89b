import { type InvalidField, Refusal } from './refusal.ts';

/**
 * Runs every check of an input, so that one refusal has all invalid fields.
 * @returns what the checks return, in their order
 * @throws Refusal with the path of the first invalid field, and all of them in `errors`
 */
export function checkAll<Checks extends readonly (() => unknown)[]>(
  ...checks: Checks
): { [Position in keyof Checks]: ReturnType<Checks[Position]> } {
  const results: unknown[] = [];
  const found: Refusal[] = [];
  for (const check of checks) {
    try {
      results.push(check());
    } catch (error) {
      // An error without a path is not about a field, and stops the rest.
      if (!(error instanceof Refusal) || !error.details.path) throw error;
      found.push(error);
    }
  }
  const [first] = found;
  // Each check has put its result at its position.
  if (!first) return results as { [Position in keyof Checks]: ReturnType<Checks[Position]> };
  throw found.length === 1 ? first : joinRefusals(first, found);
}

/** Returns the invalid fields that a refusal names: the one at its path where it lists none. */
export function invalidFieldsOf({ code, message, details }: Refusal): readonly InvalidField[] {
  return details.errors ?? (details.path ? [{ path: details.path, code, message }] : []);
}

/** Joins refusals of one input: their code where it is the same, else INVALID_INPUT. */
function joinRefusals(first: Refusal, found: readonly Refusal[]): Refusal {
  const errors = found.flatMap(invalidFieldsOf);
  const code = errors.every((error) => error.code === first.code) ? first.code : 'INVALID_INPUT';
  const message = [...new Set(errors.map((error) => error.message))].join('; ');
  return new Refusal(code, message, { path: first.details.path, errors });
}
