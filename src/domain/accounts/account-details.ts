import type { AccountDetails } from '../../core/account-fields.ts';
import { type AccountIdentity, identityOf } from '../../core/account-identity.ts';
import { type AccountType, accountTypes } from '../../core/account-types.ts';
import { checkAll } from '../../core/check-all.ts';
import { pathsIn } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';

const at = pathsIn<{ readonly currency: string; readonly details: AccountDetails }>();

/**
 * Checks the details of an account against the table of its type and the requested currency, all of them.
 * @returns the details as they are stored, and what identifies the account
 * @throws Refusal INVALID_BANK_ACCOUNT with the field and its form, INVALID_CURRENCY
 */
export function checkAccountInfo(
  type: ExternalAccountType,
  details: AccountDetails,
  currency: string,
): { info: Record<string, string>; identity: AccountIdentity } {
  const rules: AccountType = accountTypes[type];
  const [, ...given] = checkAll(
    () => checkCurrency(type, rules, currency),
    ...Object.keys(rules.fields).map((name) => () => checkDetail(type, rules, details, name)),
  );
  const info = Object.fromEntries(given.flat());
  if (rules.identifier.filter((name) => name in info).length !== 1) {
    throw new Refusal(
      'INVALID_BANK_ACCOUNT',
      `exactly one of the details that identify an account of the type ${type} must be given`,
      {
        path: at('details'),
        oneOf: [...rules.identifier],
      },
    );
  }
  return { info, identity: identityOf(type, info) };
}

function checkCurrency(type: ExternalAccountType, rules: AccountType, currency: string): void {
  if (rules.currencies.some((code) => code === currency)) return;
  throw new Refusal(
    'INVALID_CURRENCY',
    `an account of the type ${type} is in ${rules.currencies.join(' or ')}, not ${JSON.stringify(currency)}`,
    at('currency'),
  );
}

/** Checks one detail. Returns its name and its value, in a list; an empty list where it is left out. */
function checkDetail(
  type: ExternalAccountType,
  rules: AccountType,
  details: AccountDetails,
  name: string,
): [name: string, value: string][] {
  const rule = rules.fields[name];
  const value = details[name] ?? undefined;
  const path = at('details', name);
  if (value === undefined) {
    if (!rule?.optional)
      throw new Refusal('INVALID_BANK_ACCOUNT', `an account of the type ${type} must have this`, path);
    return [];
  }
  if ((rule?.pattern && !rule.pattern.test(value)) || (rule?.values && !rule.values.includes(value))) {
    throw new Refusal('INVALID_BANK_ACCOUNT', `the value must be ${rule.form ?? `one of ${rule.values?.join(', ')}`}`, {
      path,
      value,
    });
  }
  const byOther = rule?.formBy?.forms[details[rule.formBy.field] ?? ''];
  if (byOther && !byOther.pattern.test(value)) {
    throw new Refusal('INVALID_BANK_ACCOUNT', `the value must be ${byOther.form}`, { path, value });
  }
  return [[name, value]];
}
