import { birthFault } from '../../core/checks.ts';
import { countryFault } from '../../core/countries.ts';
import { checkAll, type FieldPath, Refusal } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';

export interface Address {
  readonly line1: string;
  readonly line2?: string | null | undefined;
  readonly city?: string | null | undefined;
  readonly state?: string | null | undefined;
  readonly postalCode: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

/** Validates an address, and returns it as stored. @throws Refusal INVALID_INPUT with the path of each wrong field */
export function checkAddress<Given extends Address | null | undefined>(address: Given, path: FieldPath): Given {
  if (!address) return address;
  const [line1, postalCode, line2, city, state, country] = checkAll(
    () => checkText(address.line1, [...path, 'line1'], longest.line),
    () => checkText(address.postalCode, [...path, 'postalCode'], longest.postalCode),
    () => checkText(address.line2, [...path, 'line2'], longest.line),
    () => checkText(address.city, [...path, 'city'], longest.word),
    () => checkText(address.state, [...path, 'state'], longest.word),
    () => checkCountry(address.country, [...path, 'country']),
  );
  return { ...address, line1, postalCode, line2, city, state, country };
}

/**
 * Refuses a date that cannot be a living person's date of birth.
 * @param now the database's clock
 * @throws Refusal INVALID_INPUT
 */
export function checkBirth<Given extends string | null | undefined>(day: Given, path: FieldPath, now: Date): Given {
  const fault = day === null || day === undefined ? undefined : birthFault(day, now);
  if (fault !== undefined) throw new Refusal('INVALID_INPUT', `a date of birth ${fault}`, { path, value: day });
  return day;
}

/** Refuses an unknown country code. @throws Refusal INVALID_INPUT */
export function checkCountry<Given extends string | null | undefined>(country: Given, path: FieldPath): Given {
  const fault = country === null || country === undefined ? undefined : countryFault(country);
  if (fault !== undefined) throw new Refusal('INVALID_INPUT', `a country ${fault}`, { path, value: country });
  return country;
}
