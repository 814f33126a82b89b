import { purposesOfPayment } from '../../core/account-fields.ts';
import { birthFault } from '../../core/checks.ts';
import { countryFault } from '../../core/countries.ts';
import { checkEach, type FieldPath, invalid, Refusal } from '../../core/refusal.ts';
import { canonicalText, checkText, longest, textFault } from '../../core/texts.ts';
import type { Queryable } from '../../infra/database/statement.ts';
import { readClock } from '../../infra/database/transaction.ts';
import type { RequiredField } from '../../rails/rail.ts';
import type { Caller } from '../access/caller.ts';

export interface InformationField {
  readonly name: string;
  readonly value: string;
}

export type Information = Readonly<Record<string, string>>;

export const maxFacts = 30;

type Check = (value: string, now: Date) => string | undefined;

const anyText: Check = () => undefined;
const fitting =
  (pattern: RegExp, words: string): Check =>
  (value) =>
    pattern.test(value) ? undefined : `must be ${words}`;

/** The known facts about a sender, each with its check. Facts about a receiver undergo the same checks. */
const checks: ReadonlyMap<string, Check> = new Map([
  ['FULL_NAME', anyText],
  ['BIRTH_DATE', birthFault],
  ['NATIONALITY', countryFault],
  ['PHONE_NUMBER', fitting(/^\+?[0-9][0-9 ().-]{2,30}$/, 'a telephone number')],
  ['EMAIL', fitting(/^[^\s@]+@[^\s@]+$/, 'an e-mail address')],
  ['POSTAL_ADDRESS', anyText],
  ['TAX_ID', anyText],
  ['REGISTRATION_NUMBER', anyText],
  ['USER_TYPE', fitting(/^(INDIVIDUAL|BUSINESS)$/, 'INDIVIDUAL or BUSINESS')],
  ['COUNTRY_OF_RESIDENCE', countryFault],
  ['ACCOUNT_IDENTIFIER', anyText],
  ['FI_LEGAL_ENTITY_NAME', anyText],
  ['FI_ADDRESS', anyText],
  [
    'PURPOSE_OF_PAYMENT',
    fitting(new RegExp(`^(${purposesOfPayment.join('|')})$`), `one of ${purposesOfPayment.join(', ')}`),
  ],
  ['ULTIMATE_INSTITUTION_COUNTRY', countryFault],
  ['IDENTIFIER', anyText],
]);

/** Reads the database's clock if one of the facts depends on it. */
export async function clockFor(on: Queryable, given: readonly InformationField[] | null | undefined): Promise<Date> {
  return given?.some(({ name }) => name === 'BIRTH_DATE') ? (await readClock(on)).now : new Date(0);
}

/** Returns the facts as a map. `now` comes from `clockFor`. @throws Refusal INVALID_INPUT with the path of the fact */
export function checkInformation(given: readonly InformationField[] | null | undefined, path: FieldPath, now: Date) {
  const fields = (given ?? []).map(({ name, value }) => ({ name, value: canonicalText(value) }));
  if (fields.length > maxFacts) throw invalid(`at most ${maxFacts} facts can be given`, path);
  checkEach(fields, (field, position) => {
    const isRepeated = fields.findIndex(({ name }) => name === field.name) < position;
    const reason = factFault(field, isRepeated, now);
    if (reason !== undefined) throw invalid(reason, [...path, position]);
  });
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
}

function factFault({ name, value }: InformationField, isRepeated: boolean, now: Date): string | undefined {
  if (!/^[A-Z][A-Z_]{0,62}[A-Z]$/.test(name))
    return 'a name must consist of capital letters and underscores, as in FULL_NAME';
  if (isRepeated) return `${name} is given twice`;
  const fault = textFault(value, longest.memo);
  if (fault !== undefined) return `${name} ${fault}`;
  const wrong = checks.get(name)?.(value, now);
  return wrong === undefined ? undefined : `${name} ${wrong}`;
}

/**
 * Refuses facts about a sender that do not apply to the payment's destination. For an external account, only the
 * purpose applies. For an internal account, none apply. For a UMA address, a fact must have a known name or be
 * requested by the receiver.
 * @param requested the fields that the receiver at a UMA address requests; undefined for an account
 * @throws Refusal INVALID_INPUT with the path of the fact
 */
export function checkApplicable(
  given: readonly InformationField[] | null | undefined,
  path: FieldPath,
  destination: { readonly requested: readonly RequiredField[] | undefined; readonly isInternal: boolean },
): void {
  const { requested, isInternal } = destination;
  const faultOf = (name: string): string | undefined => {
    if (requested) {
      const isKnown = checks.has(name) || requested.some((field) => field.name === name);
      return isKnown ? undefined : `unknown name ${name}; the known names are ${[...checks.keys()].join(', ')}`;
    }
    if (name !== 'PURPOSE_OF_PAYMENT') return `${name} is only for payments to UMA addresses`;
    return isInternal ? `${name} is only for payments to UMA addresses or external accounts` : undefined;
  };
  checkEach(given ?? [], ({ name }, position) => {
    const reason = faultOf(name);
    if (reason !== undefined) throw invalid(reason, [...path, position]);
  });
}

export function missingFields(required: readonly RequiredField[], given: Information): string[] {
  return required.filter(({ name, mandatory }) => mandatory && !Object.hasOwn(given, name)).map(({ name }) => name);
}

/** Key-value pairs that a platform attaches to its records for its own use. */
export type Metadata = Readonly<Record<string, string>>;

export const maxEntries = 20;
const maxKeyLength = 40;

/**
 * Returns the column's value: null if the metadata is empty, undefined if it is omitted. Only platforms may set it, so
 * that their servers can rely on it. @throws Refusal INVALID_INPUT with the entry's path; FORBIDDEN for an app
 */
export function checkMetadata(caller: Pick<Caller, 'kind'>, given: Metadata | null | undefined, path: FieldPath) {
  if (!given) return undefined;
  if (caller.kind === 'CLIENT') {
    throw new Refusal('FORBIDDEN', 'metadata can be set only with an API token, not with a client token', path);
  }
  const entries = Object.entries(given).map(([key, value]) => [key, canonicalText(value)] as const);
  if (entries.length > maxEntries) throw invalid(`metadata can have at most ${maxEntries} entries`, path);
  checkEach(entries, ([key, value]) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(key) || key.length > maxKeyLength) {
      const message = `a key must be 1 to ${maxKeyLength} letters, digits, dots, hyphens and underscores, and begin with a letter or digit`;
      throw invalid(message, [...path, key]);
    }
    const fault = value === '' ? undefined : textFault(value, longest.memo);
    if (fault !== undefined) throw invalid(`the value ${fault}`, [...path, key]);
  });
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

type Text = string | null | undefined;
type Optional<Name extends string> = { readonly [Fact in Name]?: Text };

export interface Address extends Optional<'line2' | 'city' | 'state'> {
  readonly line1: string;
  readonly postalCode: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

interface Addressed {
  readonly address?: Address | null | undefined;
}

/** The optional facts about a person. `birthDate` is YYYY-MM-DD. */
export type PersonFacts = Addressed & Optional<'birthDate' | 'nationality'>;

/** The optional facts about a business. */
export type BusinessFacts = Addressed & Optional<'registrationNumber' | 'taxId'>;

/** The optional facts about a person who owns or manages a business. */
export type OwnerFacts = PersonFacts & Optional<'emailAddress' | 'phoneNumber' | 'taxId' | 'title'>;

type FactCheck = (value: never, path: FieldPath, now: Date) => unknown;

const text = (maxLength: number) => (value: Text, path: FieldPath) => checkText(value, path, maxLength);

/** Creates a check from a function that describes what is wrong with a value, if anything. */
function checking<Value extends string | number>(
  what: string,
  faultOf: (value: Value, now: Date) => string | undefined,
) {
  return <Given extends Value | null | undefined>(value: Given, path: FieldPath, now = new Date(0)): Given => {
    const fault = value === null || value === undefined ? undefined : faultOf(value, now);
    if (fault !== undefined) throw invalid(`${what} ${fault}`, { path, value });
    return value;
  };
}

/** Validates a country. @throws Refusal INVALID_INPUT */
export const checkCountry = checking('a country', countryFault);

/** The checks, by field name. Fields have the same names in all inputs. */
const factChecks: Readonly<Record<string, FactCheck>> = {
  fullName: text(longest.name),
  legalName: text(longest.name),
  birthDate: checking('a date of birth', birthFault),
  nationality: checkCountry,
  registrationNumber: text(longest.number),
  taxId: text(longest.number),
  address: (address: Address | null | undefined, path, now) => address && checkFacts(address, path, now),
  title: text(longest.word),
  emailAddress: text(longest.email),
  phoneNumber: checking('a phone number', fitting(/^\+[1-9]\d{1,14}$/, 'in E.164 format, such as +14155550123')),
  // A JSON number is exact to 15 digits. With more decimals, the two APIs would show different shares.
  percentageOwnership: checking('a share', (share: number) =>
    share >= 0 && share <= 100 && Number(share.toFixed(13)) === share
      ? undefined
      : 'must be between 0 and 100 percent, with at most 13 decimals',
  ),
  line1: text(longest.line),
  postalCode: text(longest.postalCode),
  line2: text(longest.line),
  city: text(longest.word),
  state: text(longest.word),
  country: checkCountry,
};

/**
 * Validates facts, and returns them as they are to be stored. `now` is the database's time.
 * @throws Refusal INVALID_INPUT with the path of each invalid fact
 */
export function checkFacts<Given extends object>(given: Given, path: FieldPath, now: Date): Given {
  const fields = Object.entries(factChecks).filter(([name]) => Reflect.has(given, name));
  const checked = checkEach(fields, ([name, check]) => [
    name,
    // The compiler cannot tell that the check for a name fits the type of the value.
    check(Reflect.get(given, name) as never, [...path, name], now),
  ]);
  return { ...given, ...Object.fromEntries(checked) };
}
