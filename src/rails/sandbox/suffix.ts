import type { RailAccount } from '../rail-account.ts';

/** Returns the last three characters of an account's identifier, before any @: the sandbox's magic values. */
export function suffixOf(account: RailAccount): string {
  return account.identifier.replace(/@.*$/s, '').slice(-3);
}
