import type { OutsideAccount } from '../rail.ts';

/**
 * The last three characters of what names an account: the sandbox's magic values stand there (decision 21). For
 * `x@domain` they stand at the end of the part before the @.
 */
export function suffixOf(account: OutsideAccount): string {
  return account.identifier.replace(/@.*$/s, '').slice(-3);
}
