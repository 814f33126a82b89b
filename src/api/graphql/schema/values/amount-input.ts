import type { GivenAmount } from '../../../../core/currencies.ts';
import { builder } from '../builder.ts';

export const AmountInput = builder.inputType('AmountInput', {
  description:
    'An amount of money, given by exactly one field. For an idempotency key, both forms of an amount are the same input.',
  isOneOf: true,
  fields: (t) => ({
    units: t.field({
      type: 'BigInt',
      description: 'The amount in the smallest unit of its currency: 1250 is 12.50 if the currency has 2 decimals.',
    }),
    decimal: t.field({ type: 'Decimal', description: 'The exact amount in major units, such as "12.50".' }),
  }),
});

/** Converts the input to the domain's form. A @oneOf input has exactly one field. */
export function givenAmount({ units, decimal }: typeof AmountInput.$inferInput): GivenAmount {
  const amount = units ?? (typeof decimal === 'string' ? { decimal } : undefined);
  if (amount === undefined) throw new Error('a @oneOf input has one field');
  return amount;
}
