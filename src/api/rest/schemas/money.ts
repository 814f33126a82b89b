import { z } from '@hono/zod-openapi';
import { isDay, maxAmount } from '../../../core/checks.ts';

// The schemas of currencies, amounts, times and ids.

/** A currency in a response (decision 14: always all four fields). */
export const CurrencySchema = z
  .object({
    code: z.string().openapi({ description: 'ISO 4217 code, or an asset code such as USDC or BTC.', example: 'USD' }),
    name: z.string().openapi({ description: 'The English name of the currency, for display.', example: 'US Dollar' }),
    symbol: z.string().openapi({ description: 'The symbol of the currency, for display.', example: '$' }),
    decimals: z.int().min(0).max(18).openapi({
      description: "The number of decimal places of the currency's smallest unit: 2 for cents.",
      example: 2,
    }),
  })
  .openapi('Currency', { description: 'A currency or asset.' });

/** The largest integer that JSON carries exactly: no amount of a response is beyond it. */
const { MAX_SAFE_INTEGER: maximum } = Number;

/** Defines an amount in a response: an integer of smallest units. */
export function amount(description: string, minimum = 0) {
  return z.int().openapi({ type: 'integer', format: 'int64', minimum, maximum, description, example: 12550 });
}

/** Defines a rate in a response: a number of at most 15 digits. */
export function rate(description: string) {
  return z.number().openapi({ minimum: 0, maximum, description });
}

/** An amount with its currency, in a response. */
export const AmountSchema = z
  .object({
    amount: amount('The amount in the smallest unit of its currency: 12550 is 125.50 with 2 decimals.', -maximum),
    currency: CurrencySchema,
  })
  .openapi('Amount', { description: 'An amount of money in a currency.' });

/** Defines an amount in a request, in smallest units. */
export function amountInput(description: string, max: bigint = maxAmount) {
  return z
    .int({
      error: ({ code }) => (code === 'too_big' ? `must be at most ${max}` : 'must be an integer of smallest units'),
    })
    .min(1, 'must be at least 1')
    .max(Number(max), `must be at most ${max}`)
    .openapi({ type: 'integer', format: 'int64', minimum: 1, maximum: Number(max), description, example: 12550 });
}

/** Defines a time in a response. */
export function time(description: string) {
  return z.string().openapi({ format: 'date-time', description, example: '2026-01-31T09:30:00.000Z' });
}

/** Returns the id of a type in examples. */
export const exampleId = (type: string) => `${type}:0199d5c1-7a3c-7b6e-9f51-2f6f3c1d8e42`;

/** Defines an id, `<Type>:<uuid>`. */
export function id(type: string, description: string) {
  return z.string().openapi({ description, example: exampleId(type) });
}

/** Defines a calendar day, YYYY-MM-DD. */
export function day(description: string) {
  return z
    .string()
    .refine(isDay, 'must be a valid date, YYYY-MM-DD')
    .openapi({ type: 'string', format: 'date', description, example: '1990-12-10' });
}
