import { birthFault } from '../../core/checks.ts';
import { countryFault } from '../../core/countries.ts';
import { checkEach, type FieldPath, invalid } from '../../core/refusal.ts';
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

type Text = string | null | undefined;
type Check = (value: never, path: FieldPath, now: Date) => unknown;

const text = (maxLength: number) => (value: Text, path: FieldPath) => checkText(value, path, maxLength);

/** Each field has the same name in every input. */
const checks: Readonly<Record<string, Check>> = {
  fullName: text(longest.name),
  legalName: text(longest.name),
  birthDate: checkBirth,
  nationality: checkCountry,
  registrationNumber: text(longest.number),
  taxId: text(longest.number),
  address: (address: Address | null | undefined, path, now) => address && checkFacts(address, path, now),
  title: text(longest.word),
  emailAddress: text(longest.email),
  phoneNumber: checkPhoneNumber,
  percentageOwnership: checkShare,
  line1: text(longest.line),
  postalCode: text(longest.postalCode),
  line2: text(longest.line),
  city: text(longest.word),
  state: text(longest.word),
  country: checkCountry,
};

/**
 * Returns the facts as stored. `now` is the database's clock.
 * @throws Refusal INVALID_INPUT with the path of each invalid fact
 */
export function checkFacts<Given extends object>(given: Given, path: FieldPath, now: Date): Given {
  const fields = Object.entries(checks).filter(([name]) => Reflect.has(given, name));
  const checked = checkEach(fields, ([name, check]) => [
    name,
    // The compiler does not relate a name's check to the type of its value.
    check(Reflect.get(given, name) as never, [...path, name], now),
  ]);
  return { ...given, ...Object.fromEntries(checked) };
}

function checkBirth(day: Text, path: FieldPath, now: Date): Text {
  const fault = day === null || day === undefined ? undefined : birthFault(day, now);
  if (fault !== undefined) throw invalid(`a date of birth ${fault}`, { path, value: day });
  return day;
}

/** @throws Refusal INVALID_INPUT */
export function checkCountry<Given extends string | null | undefined>(country: Given, path: FieldPath): Given {
  const fault = country === null || country === undefined ? undefined : countryFault(country);
  if (fault !== undefined) throw invalid(`a country ${fault}`, { path, value: country });
  return country;
}

function checkPhoneNumber(phoneNumber: Text, path: FieldPath): Text {
  if (phoneNumber != null && !/^\+[1-9]\d{1,14}$/.test(phoneNumber)) {
    throw invalid('a phone number must be in E.164 form, such as +14155550123', path);
  }
  return phoneNumber;
}

function checkShare(share: number | null | undefined, path: FieldPath) {
  if (share != null && (share < 0 || share > 100)) throw invalid('a share must be between 0 and 100 percent', path);
  return share;
}
