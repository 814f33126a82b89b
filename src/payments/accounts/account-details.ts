import { Refusal } from '../../core/refusal.ts';
import type { ExternalAccountType } from '../../database/generated/client/client.ts';
import { type AccountDetails, type AccountType, accountTypes } from './account-types.ts';

/**
 * Checks the details of an account against its type's table and the currency asked for, and tells its identifier.
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
      { field: 'currency' },
    );
  }
  const info: Record<string, string> = {};
  for (const [name, rule] of Object.entries(rules.fields)) {
    const value = details[name] ?? undefined;
    const field = `accountInfo.${name}`;
    if (value === undefined) {
      if (!rule.optional) throw new Refusal('INVALID_BANK_ACCOUNT', `${name} is required for a ${type}`, { field });
      continue;
    }
    if ((rule.pattern && !rule.pattern.test(value)) || (rule.values && !rule.values.includes(value))) {
      throw new Refusal('INVALID_BANK_ACCOUNT', `${name} must be ${rule.form ?? `one of ${rule.values?.join(', ')}`}`, {
        field,
        value,
      });
    }
    const byOther = rule.formBy?.forms[details[rule.formBy.field] ?? ''];
    if (byOther && !byOther.pattern.test(value)) {
      throw new Refusal('INVALID_BANK_ACCOUNT', `${name} must be ${byOther.form}`, { field, value });
    }
    info[name] = value;
  }
  const identifiers = rules.identifier.flatMap((name) => info[name] ?? []);
  const [identifier] = identifiers;
  if (identifier === undefined || identifiers.length > 1) {
    throw new Refusal('INVALID_BANK_ACCOUNT', `give exactly one of ${rules.identifier.join(', ')}`, {
      field: 'accountInfo',
    });
  }
  return { info, identifier };
}
