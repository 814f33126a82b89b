import type { GivenAmount } from '../../../../core/amounts.ts';
import type { FieldPath } from '../../../../core/path.ts';
import { Refusal } from '../../../../core/refusal.ts';

/** What is said of the field of an amount in major units, beside the one of smallest units. */
export const decimalForm = 'The same in major units, exact: "12.50". Instead of the field of smallest units.';

/**
 * Returns the amount that an input gives in one of its two fields; undefined where it gives none.
 * @throws Refusal INVALID_AMOUNT for both
 */
export function givenAmount(
  smallest: bigint | null | undefined,
  decimal: string | null | undefined,
  path: FieldPath,
): GivenAmount | undefined {
  if (decimal === null || decimal === undefined) return smallest ?? undefined;
  if (smallest === null || smallest === undefined) return { decimal };
  throw new Refusal('INVALID_AMOUNT', 'an amount is given once: in smallest units, or as a decimal of major units', {
    path,
  });
}

/**
 * Returns the amount that an input must give in one of its two fields.
 * @throws Refusal INVALID_AMOUNT for none and for both
 */
export function requiredAmount(...[smallest, decimal, path]: Parameters<typeof givenAmount>): GivenAmount {
  const amount = givenAmount(smallest, decimal, path);
  if (amount !== undefined) return amount;
  throw new Refusal('INVALID_AMOUNT', 'an amount is required: in smallest units, or as a decimal of major units', {
    path,
  });
}
