import type { RailAccount } from '../rail-account.ts';

/**
 * Returns the last three characters of the identifier of an account, where the magic values of the sandbox are
 * (decision 21). For `x@domain` they are the end of the part before the @.
 */
export function suffixOf(account: RailAccount): string {
  return account.identifier.replace(/@.*$/s, '').slice(-3);
}
