import { z } from '@hono/zod-openapi';
import { countryFault } from '../../../core/countries.ts';
import { canonicalText, longest, textFault } from '../../../core/texts.ts';

// The schemas of texts, addresses and countries, the same in requests and responses.

/** Defines a free text, such as a name: the domain's rule refuses. The bounds count characters. */
export const text = (maxLength: number, isKey = false) =>
  z
    .string()
    .superRefine((value, context) => {
      const fault = textFault(canonicalText(value), maxLength, isKey);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: `the text ${fault}` });
    })
    .openapi({ minLength: 1, maxLength });

/** Defines a key of the platform's own. */
export const ownKey = () => text(longest.key, true);

/** Facts about a party, by name. */
export const facts = () => z.record(z.string(), z.string().openapi({ minLength: 1, maxLength: longest.memo }));

const country = z
  .string()
  .superRefine((code, context) => {
    const fault = countryFault(code);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .openapi({
    description: 'The country, as an ISO 3166-1 alpha-2 code.',
    example: 'US',
    pattern: '^[A-Z]{2}$',
  });

export function countryCode(description: string) {
  return country.openapi({ description });
}

export const AddressSchema = z
  .strictObject({
    line1: text(longest.line).describe('The first line of the address: street and number.'),
    line2: text(longest.line).optional().describe('The second line of the address.'),
    city: text(longest.word).optional().describe('The city.'),
    state: text(longest.word).optional().describe('The state or province.'),
    postalCode: text(longest.postalCode).describe('The postal code.'),
    country,
  })
  .openapi('Address', { description: 'A postal address.' });
