import { type AccountDetails, formFault, formOf } from '../../core/account-fields.ts';
import { type AccountIdentity, type AccountType, accountTypes, identityOf } from '../../core/account-types.ts';
import { carriedName } from '../../core/carried-text.ts';
import {
  checkAll,
  checkEach,
  type FieldPath,
  type InvalidField,
  invalid,
  pathsIn,
  Refusal,
} from '../../core/refusal.ts';
import { canonicalText } from '../../core/texts.ts';
import type { Environment, ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import { type Account, trustedJson } from '../../infra/database/rows.ts';
import type { AccountCheck } from '../../rails/rail.ts';
import type { BusinessFacts, PersonFacts } from '../commands/information.ts';

const at = pathsIn<{ readonly currency: string; readonly details: AccountDetails }>();

interface GivenAccount {
  readonly accountType: ExternalAccountType;
  readonly details: AccountDetails;
  readonly currency: string;
}

/**
 * Validates all of an account's details against the rules for its type and the requested currency. Only PRODUCTION
 * requires valid check digits, because the sandbox's magic suffixes make them invalid.
 * @param now the database's time, which decides whether an invoice has expired
 * @returns the details as stored, and the account's identifier
 * @throws Refusal INVALID_BANK_ACCOUNT with the field and its expected form, INVALID_CURRENCY
 */
export function checkAccountInfo(
  { accountType: type, details, currency }: GivenAccount,
  environment: Environment,
  now: Date,
): { info: Record<string, string>; identity: AccountIdentity } {
  const rules = accountTypes[type];
  const [, ...given] = checkAll(
    () => checkCurrency(type, rules, currency),
    ...Object.keys(rules.fields).map((name) => () => checkDetail(type, rules, details, name)),
  );
  const info = Object.fromEntries(given.flat());
  if (rules.identifier.filter((name) => name in info).length !== 1) {
    const message = `give exactly one of the fields that identify an account of type ${type}`;
    throw new Refusal('INVALID_BANK_ACCOUNT', message, { path: at('details'), oneOf: [...rules.identifier] });
  }
  if (environment === 'PRODUCTION') {
    checkEach(checkDigitFaults(type, details, info, now), ({ code, message, path }) => {
      throw new Refusal(code, message, path);
    });
  }
  return { info, identity: identityOf(type, info) };
}

interface WarnedAccount extends Pick<GivenAccount, 'accountType' | 'details'> {
  readonly beneficiary?: Beneficiary | null | undefined;
}

/**
 * Returns warnings for those who are about to pay into an accepted account: that its rail alters the owner's name and,
 * in the sandbox, that PRODUCTION would refuse certain details.
 * @param createdAt when the account was created
 */
export function accountWarnings(account: WarnedAccount, environment: Environment, createdAt: Date): InvalidField[] {
  const name = nameFault(account);
  const warnings = name && !name.isRefused ? [name.field] : [];
  if (environment === 'PRODUCTION') return warnings;
  const refused = [...digitFaultsOf(account, createdAt), ...(name?.isRefused ? [name.field] : [])];
  return [
    ...refused.map((field) => ({ ...field, message: `PRODUCTION would refuse it: ${field.message}` })),
    ...warnings,
  ];
}

/** Returns how an account's rail alters the owner's name; undefined if it transmits the name unchanged. */
export function nameFault({ accountType, beneficiary }: Omit<WarnedAccount, 'details'>) {
  const { characters } = accountTypes[accountType];
  if (!characters || !beneficiary) return undefined;
  const { text, notice } = carriedName(canonicalText(ownerName(beneficiary) ?? ''), characters);
  if (notice === undefined) return undefined;
  const field = beneficiary.beneficiaryType === 'INDIVIDUAL' ? 'fullName' : 'legalName';
  const path = ['beneficiary', field] as const;
  return { isRefused: !/[A-Za-z0-9]/.test(text), field: { path, code: 'INVALID_INPUT' as const, message: notice } };
}

function digitFaultsOf({ accountType, details }: WarnedAccount, now: Date): InvalidField[] {
  const { fields } = accountTypes[accountType];
  const info = Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = details[name] ?? undefined;
      return value === undefined ? [] : [[name, formOf(field, details).canonical(value)] as const];
    }),
  );
  return checkDigitFaults(accountType, details, info, now);
}

/** Returns the faults in an account's details: wrong check digits, impossible values, and an expired invoice. */
function checkDigitFaults(
  type: ExternalAccountType,
  details: AccountDetails,
  info: Readonly<Record<string, string>>,
  now: Date,
): InvalidField[] {
  const { fields } = accountTypes[type];
  return Object.entries(info).flatMap(([name, value]): InvalidField[] => {
    const field = fields[name];
    const form = field && formOf(field, info);
    const reason = form?.check?.(value, info, details[name] ?? value) ?? expiryFault(form?.expiry?.(value), now);
    if (reason === undefined) return [];
    return [{ path: at('details', name), code: 'INVALID_BANK_ACCOUNT', message: `the value is invalid: ${reason}` }];
  });
}

function expiryFault(expiry: Date | undefined, now: Date): string | undefined {
  return expiry && expiry <= now ? `it expired at ${expiry.toISOString()}; ask the payee for a new one` : undefined;
}

function checkCurrency(type: ExternalAccountType, rules: AccountType, currency: string): void {
  if (rules.currencies.some((code) => code === currency)) return;
  const message = `an account of type ${type} must be in ${rules.currencies.join(' or ')}, not ${JSON.stringify(currency)}`;
  throw new Refusal('INVALID_CURRENCY', message, at('currency'));
}

/** Validates one detail. Returns its name and canonical value in a list, or an empty list if the detail is absent. */
function checkDetail(
  type: ExternalAccountType,
  rules: AccountType,
  details: AccountDetails,
  name: string,
): [name: string, value: string][] {
  const field = rules.fields[name];
  const value = details[name] ?? undefined;
  const path = at('details', name);
  if (!field || value === undefined) {
    const reason = field?.optional ? field.requiredBeside?.(details) : `required for an account of type ${type}`;
    if (reason !== undefined) throw new Refusal('INVALID_BANK_ACCOUNT', reason, path);
    return [];
  }
  const fault = formFault(field, value, details);
  if (fault !== undefined) throw new Refusal('INVALID_BANK_ACCOUNT', fault, { path, value });
  return [[name, formOf(field, details).canonical(value)]];
}

export type Beneficiary =
  | ({ readonly beneficiaryType: 'INDIVIDUAL'; readonly fullName: string } & PersonFacts)
  | ({ readonly beneficiaryType: 'BUSINESS'; readonly legalName: string } & BusinessFacts);

/** Returns the account owner's name as the rail transmits it; undefined for a wallet. */
export function carriedOwner(type: ExternalAccountType, beneficiary: Beneficiary | null): string | undefined {
  const name = ownerName(beneficiary);
  const { characters } = accountTypes[type];
  return name === undefined || !characters ? name : carriedName(name, characters).text;
}

/** Returns the account owner's name, for comparison with the bank's record; undefined for a wallet. */
export function ownerName(beneficiary: Beneficiary | null): string | undefined {
  return beneficiary === null || beneficiary.beneficiaryType === 'INDIVIDUAL'
    ? beneficiary?.fullName
    : beneficiary.legalName;
}

type SaidOfOwner = Pick<
  Extract<AccountCheck, { readonly accepted: true }>,
  'explanation' | 'comparedName' | 'verification' | 'verifiedName'
>;

/** Returns the rail's explanation of a status and, if the names differ, both names; null if there is nothing to say. */
export function reasonOf(check: SaidOfOwner, name: string | undefined): string | null {
  const { explanation, comparedName = name, verification, verifiedName } = check;
  const differs = verification === 'NOT_MATCHED' || verification === 'PARTIAL_MATCH';
  const atBank = verifiedName === null ? 'the name at the bank, which was not reported' : JSON.stringify(verifiedName);
  const compared =
    differs && comparedName !== undefined ? `compared ${JSON.stringify(comparedName)} with ${atBank}` : undefined;
  return [explanation, compared].filter((part) => part !== undefined).join(': ') || null;
}

/** The display names of wallets, which have no owner. */
const wallets: { readonly [Type in ExternalAccountType]?: string } = {
  LAYER2_WALLET: 'Bitcoin wallet',
  LIGHTNING: 'Lightning wallet',
  SOLANA_WALLET: 'Solana wallet',
  TRON_WALLET: 'Tron wallet',
  POLYGON_WALLET: 'Polygon wallet',
  BASE_WALLET: 'Base wallet',
};

/** Returns an account's display name: the name of its owner, or its kind. The SQL equivalent is account_name. */
export function displayName({ accountType, beneficiary, currency }: Account): string {
  // createExternalAccount stores the beneficiary in this form.
  const owner = ownerName(trustedJson<Beneficiary | null>(beneficiary));
  return owner ?? (accountType && wallets[accountType]) ?? `${currency} account`;
}

/**
 * Returns an account's number, masked for display: "•••• 6789", or "al••••@example.com" for an address. Apart from
 * an address's domain, at most four characters are shown, and at least half are hidden. An internal account has no
 * number, so its id is used. The SQL equivalent is account_number.
 */
export function maskedNumber({ kind, id, identifier }: Pick<Account, 'kind' | 'id' | 'identifier'>): string {
  const characters = [...(kind === 'INTERNAL' ? id.toUpperCase() : (identifier ?? ''))];
  const at = characters.indexOf('@');
  const length = at < 0 ? characters.length : at;
  const shown = Math.min(4, Math.floor(length / 2));
  return at < 0
    ? `•••• ${characters.slice(length - shown).join('')}`
    : `${characters.slice(0, shown).join('')}••••${characters.slice(at).join('')}`;
}

/** Refuses a wallet as a source, because only bank accounts can be debited on request. @throws Refusal INVALID_INPUT */
export function checkPullable(account: Account, path: FieldPath): void {
  if (account.accountType !== null && accountTypes[account.accountType].beneficiary) return;
  const message =
    'money cannot be pulled from a wallet: send it from the wallet, using the payment instructions of an internal account or a real-time funded quote';
  throw invalid(message, path);
}
