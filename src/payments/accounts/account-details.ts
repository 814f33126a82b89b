import { pathsIn } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { ExternalAccountType } from '../../database/generated/client/client.ts';
import { type AccountDetails, type AccountType, accountTypes } from './account-types.ts';

const at = pathsIn<{ readonly currency: string; readonly details: AccountDetails }>();

/**
 * Checks the details of an account against the table of its type and the requested currency.
 * @returns the details as they are stored, and the one that identifies the account
 * @throws Refusal INVALID_BANK_ACCOUNT with the field and its form, INVALID_CURRENCY
 */
export function checkAccountInfo(
  type: ExternalAccountType,
  details: AccountDetails,
  currency: string,
): { info: Record<string, string>; identifier: string } {
  const rules: AccountType = accountTypes[type];
  if (!rules.currencies.some((code) => code === currency)) {
    throw new Refusal(
      'INVALID_CURRENCY',
      `a ${type} is in ${rules.currencies.join(' or ')}, not ${JSON.stringify(currency)}`,
      { path: at('currency') },
    );
  }
  const info: Record<string, string> = {};
  for (const [name, rule] of Object.entries(rules.fields)) {
    const value = details[name] ?? undefined;
    const path = at('details', name);
    if (value === undefined) {
      if (!rule.optional) throw new Refusal('INVALID_BANK_ACCOUNT', `a ${type} must have this`, { path });
      continue;
    }
    if ((rule.pattern && !rule.pattern.test(value)) || (rule.values && !rule.values.includes(value))) {
      throw new Refusal(
        'INVALID_BANK_ACCOUNT',
        `the value must be ${rule.form ?? `one of ${rule.values?.join(', ')}`}`,
        {
          path,
          value,
        },
      );
    }
    const byOther = rule.formBy?.forms[details[rule.formBy.field] ?? ''];
    if (byOther && !byOther.pattern.test(value)) {
      throw new Refusal('INVALID_BANK_ACCOUNT', `the value must be ${byOther.form}`, { path, value });
    }
    info[name] = value;
  }
  const identifiers = rules.identifier.flatMap((name) => info[name] ?? []);
  const [identifier] = identifiers;
  if (identifier === undefined || identifiers.length > 1) {
    throw new Refusal('INVALID_BANK_ACCOUNT', `exactly one of the details that identify a ${type} must be given`, {
      path: at('details'),
      oneOf: [...rules.identifier],
    });
  }
  return { info, identifier };
}
