import { isPlainText } from '../core/checks.ts';
import type { FieldPath } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { RequiredField } from '../rails/rail.ts';

/** A fact about a party to a UMA payment, with its name (decision 48). */
export interface InformationField {
  readonly name: string;
  readonly value: string;
}

/** Facts, by name. */
export type Information = Readonly<Record<string, string>>;

/** The purposes of a payment (specification 2.10), for `PURPOSE_OF_PAYMENT`. */
export const purposes = [
  'GIFT',
  'SELF',
  'GOODS_OR_SERVICES',
  'EDUCATION',
  'HEALTH_OR_MEDICAL',
  'REAL_ESTATE_PURCHASE',
  'TAX_PAYMENT',
  'LOAN_PAYMENT',
  'UTILITY_BILL',
  'DONATION',
  'TRAVEL',
  'OTHER',
] as const;

const maxFields = 30;

/**
 * Checks facts and returns them as a map. Names must have capitals and be given once, values must not be empty, and a
 * purpose must be in the specification.
 * @throws Refusal INVALID_INPUT with the path of the fact
 */
export function checkInformation(given: readonly InformationField[] | null | undefined, path: FieldPath): Information {
  const fields = given ?? [];
  const refuse = (position: number, reason: string): never => {
    throw new Refusal('INVALID_INPUT', reason, { path: [...path, position] });
  };
  if (fields.length > maxFields) throw new Refusal('INVALID_INPUT', `at most ${maxFields} facts`, { path });
  const information: Record<string, string> = {};
  for (const [position, { name, value }] of fields.entries()) {
    if (!/^[A-Z][A-Z_]{0,62}[A-Z]$/.test(name))
      refuse(position, 'a name has capitals and underscores, such as FULL_NAME');
    if (Object.hasOwn(information, name)) refuse(position, `${name} is given twice`);
    if (value.trim() === '' || value.length > 500 || !isPlainText(value)) {
      refuse(position, `${name} must have 1 to 500 characters, none of them a control character or half a character`);
    }
    if (name === 'PURPOSE_OF_PAYMENT' && !purposes.some((purpose) => purpose === value)) {
      refuse(position, `PURPOSE_OF_PAYMENT must be one of ${purposes.join(', ')}`);
    }
    information[name] = value;
  }
  return information;
}

/** Returns the names of the mandatory fields that are not given. */
export function missingFields(required: readonly RequiredField[], given: Information): string[] {
  return required.filter(({ name, mandatory }) => mandatory && !Object.hasOwn(given, name)).map(({ name }) => name);
}
