import { checkAll } from '../../core/check-all.ts';
import { checkRequiredText, checkText, isDay } from '../../core/checks.ts';
import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';

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
 * Refuses an incomplete or malformed address, with all of its invalid fields.
 * @throws Refusal INVALID_INPUT
 */
export function checkAddress(address: Address | null | undefined, path: FieldPath): void {
  if (!address) return;
  checkAll(
    () => checkRequiredText(address.line1, [...path, 'line1']),
    () => checkRequiredText(address.postalCode, [...path, 'postalCode'], 20),
    () => checkText(address.line2, [...path, 'line2'], 200),
    () => checkText(address.city, [...path, 'city'], 100),
    () => checkText(address.state, [...path, 'state'], 100),
    () => checkCountry(address.country, [...path, 'country']),
  );
}

/**
 * Refuses text that is not a calendar date, YYYY-MM-DD.
 * @throws Refusal INVALID_INPUT
 */
export function checkDay(day: string | null | undefined, path: FieldPath): void {
  if (day !== null && day !== undefined && !isDay(day)) {
    throw new Refusal('INVALID_INPUT', 'a date must be a day of the calendar, YYYY-MM-DD', { path, value: day });
  }
}

/**
 * Refuses text that is not a two-letter country code.
 * @throws Refusal INVALID_INPUT
 */
export function checkCountry(country: string | null | undefined, path: FieldPath): void {
  if (country !== null && country !== undefined && !/^[A-Z]{2}$/.test(country)) {
    throw new Refusal('INVALID_INPUT', 'a country must be a two-letter code such as US', {
      path,
      value: country,
    });
  }
}
