import { z } from '@hono/zod-openapi';

// The schemas of addresses and countries, the same in requests and responses.

const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be a two-letter country code such as US')
  .openapi({ description: 'ISO 3166-1 alpha-2.', example: 'US' });

/** Defines a two-letter country code. */
export function countryCode(description: string) {
  return country.openapi({ description });
}

/** A postal address, in requests and responses. */
export const AddressSchema = z
  .strictObject({
    line1: z.string().describe('Street and number.'),
    line2: z.string().optional().describe('Second line.'),
    city: z.string().optional().describe('City.'),
    state: z.string().optional().describe('State or province.'),
    postalCode: z.string().describe('Postal code.'),
    country,
  })
  .openapi('Address', { description: 'A postal address.' });
