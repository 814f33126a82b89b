import { purposesOfPayment } from '../../core/account-fields.ts';
import { birthFault } from '../../core/checks.ts';
import { countryFault } from '../../core/countries.ts';
import { checkEach, type FieldPath, invalid } from '../../core/refusal.ts';
import { canonicalText, longest, textFault } from '../../core/texts.ts';
import type { Queryable } from '../../infra/database/statement.ts';
import { readClock } from '../../infra/database/transaction.ts';
import type { RequiredField } from '../../rails/rail.ts';

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

/** The facts that a sender may give. Facts with these names are validated for either party (decision 48). */
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

/** Returns the facts as a map. `now`: see `clockFor`. @throws Refusal INVALID_INPUT with the path of the fact */
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
    return 'a name must consist of capitals and underscores, such as FULL_NAME';
  if (isRepeated) return `${name} is given twice`;
  const fault = textFault(value, longest.memo);
  if (fault !== undefined) return `${name} ${fault}`;
  const wrong = checks.get(name)?.(value, now);
  return wrong === undefined ? undefined : `${name} ${wrong}`;
}

/**
 * Refuses facts about a sender that do not apply to the payment's destination. For an external account, only the
 * purpose applies; for an internal account, nothing does (specification 4.1). For a UMA address, a fact must have a
 * known name, or be requested by the receiver.
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
      return isKnown ? undefined : `unknown name ${name}; the known ones are ${[...checks.keys()].join(', ')}`;
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
