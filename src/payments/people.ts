import { checkRequiredText, checkText, isDay } from '../core/checks.ts';
import { Refusal } from '../core/refusal.ts';

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

/** Refuses an address that lacks what an address needs. */
export function checkAddress(address: Address | null | undefined, field: string): void {
  if (!address) return;
  checkRequiredText(address.line1, `${field}.line1`);
  checkRequiredText(address.postalCode, `${field}.postalCode`, 20);
  checkText(address.line2, `${field}.line2`, 200);
  checkText(address.city, `${field}.city`, 100);
  checkText(address.state, `${field}.state`, 100);
  checkCountry(address.country, `${field}.country`);
}

/** Refuses what is not a day of the calendar, YYYY-MM-DD. */
export function checkDay(day: string | null | undefined, field: string): void {
  if (day !== null && day !== undefined && !isDay(day)) {
    throw new Refusal('INVALID_INPUT', `${field} must be a day of the calendar, YYYY-MM-DD`, { field, value: day });
  }
}

/** Refuses what is not a two-letter country code. */
export function checkCountry(country: string | null | undefined, field: string): void {
  if (country !== null && country !== undefined && !/^[A-Z]{2}$/.test(country)) {
    throw new Refusal('INVALID_INPUT', `${field} must be a two-letter country code such as US`, {
      field,
      value: country,
    });
  }
}
