import { checkAll } from '../../core/check-all.ts';
import { isDay } from '../../core/checks.ts';
import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';

/** A postal address. */
export interface Address {
  readonly line1: string;
  readonly line2?: string | null | undefined;
  readonly city?: string | null | undefined;
  readonly state?: string | null | undefined;
  readonly postalCode: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

/**
 * Checks an address, all of its fields, and returns it as it is stored.
 * @throws Refusal INVALID_INPUT
 */
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
 * Refuses text that is not a calendar date, YYYY-MM-DD.
 * @throws Refusal INVALID_INPUT
 */
export function checkDay<Given extends string | null | undefined>(day: Given, path: FieldPath): Given {
  if (day !== null && day !== undefined && !isDay(day)) {
    throw new Refusal('INVALID_INPUT', 'a date must be a day of the calendar, YYYY-MM-DD', { path, value: day });
  }
  return day;
}

/**
 * Refuses text that is not a two-letter country code.
 * @throws Refusal INVALID_INPUT
 */
export function checkCountry<Given extends string | null | undefined>(country: Given, path: FieldPath): Given {
  if (country !== null && country !== undefined && !/^[A-Z]{2}$/.test(country)) {
    throw new Refusal('INVALID_INPUT', 'a country must be a two-letter code such as US', {
      path,
      value: country,
    });
  }
  return country;
}
