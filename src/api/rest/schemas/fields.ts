import { z } from '@hono/zod-openapi';
import { isDay, maxAmount, maxListLength } from '../../../core/checks.ts';
import { countryFault } from '../../../core/countries.ts';
import { withoutNulls } from '../../../core/json.ts';
import { canonicalText, longest, textFault } from '../../../core/texts.ts';
import { maxEntries, maxFacts } from '../../../domain/commands/information.ts';

// Defines the schemas of fields and objects, each with its description or its name in the document.

export const string = (description: string, example?: string) =>
  z.string().openapi({ description, ...(example !== undefined && { example }) });

export const boolean = (description: string) => z.boolean().describe(description);

export const oneOf = <const Values extends Readonly<Record<string, string>>>(values: Values, description: string) =>
  z.enum(values).describe(description);

/** Defines an object in a response. */
export const responseObject = <Fields extends z.ZodRawShape>(name: string, fields: Fields) =>
  z.object(fields).openapi(name);

/** Defines a request object, in which unknown fields are refused. */
export const requestObject = <Fields extends z.ZodRawShape>(name: string, fields: Fields) =>
  z.strictObject(fields).openapi(name);

/** Defines an object whose other fields depend on the value of one field. */
export const variants = <
  const Variants extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  name: string,
  field: string,
  all: Variants,
) => z.discriminatedUnion(field, all).openapi(name);

/** A currency in a response, always with all four fields. */
export const CurrencySchema = responseObject('Currency', {
  code: string('ISO 4217 code, or an asset code such as USDC or BTC.', 'USD'),
  name: string("The currency's English name, for display.", 'US Dollar'),
  symbol: string("The currency's symbol, for display.", '$'),
  decimals: z.int().min(0).max(18).openapi({
    description:
      "The number of decimal places in the currency's amounts, such as 2 for the US dollar, whose smallest unit is the cent.",
    example: 2,
  }),
}).describe('A currency or asset.');

/** No amount in a response exceeds the largest integer that a JSON number can represent exactly. */
const { MAX_SAFE_INTEGER: maximum } = Number;

/** Defines an amount in a response: an integer, in the currency's smallest unit. */
export function amount(description: string, example = 12550, minimum = 0) {
  return z.int().openapi({ type: 'integer', format: 'int64', minimum, maximum, description, example });
}

/** Defines a count, or a number of milliseconds. */
export const whole = (description: string) => z.int().min(0).max(maximum).describe(description);

/** Defines a rate in a response: a number with at most 15 digits. */
export const rate = (description: string, example = 1) =>
  z.number().openapi({ minimum: 0, maximum, description, example });

export const AmountSchema = responseObject('Amount', {
  amount: amount(
    'The amount in the smallest unit of its currency: 12550 means 125.50 if the currency has 2 decimals.',
    12550,
    -maximum,
  ),
  currency: CurrencySchema,
}).describe('An amount of money in a currency.');

/** Defines an amount in a request, in the currency's smallest unit. */
export function amountInput(description: string, max: bigint = maxAmount) {
  return z
    .int({
      error: ({ code }) =>
        code === 'too_big' ? `must be at most ${max}` : "must be an integer, in the currency's smallest unit",
    })
    .min(1, 'must be at least 1')
    .max(Number(max), `must be at most ${max}`)
    .openapi({ type: 'integer', format: 'int64', minimum: 1, maximum: Number(max), description, example: 12550 })
    .transform(BigInt);
}

/** Defines a time in a response: RFC 3339, in UTC, with milliseconds. */
export function time(description: string, example = '2026-01-31T09:30:00.000Z') {
  return z.string().openapi({ format: 'date-time', description, example });
}

export const exampleId = (type: string) => `${type}:0199d5c1-7a3c-7b6e-9f51-2f6f3c1d8e42`;

/** Defines a public id of the given type, such as `Customer:…`. */
export const id = (type: string, description: string) => string(description, exampleId(type));

/** Defines a calendar day, YYYY-MM-DD. */
export function day(description: string) {
  return z
    .string()
    .refine(isDay, 'must be a valid date, YYYY-MM-DD')
    .openapi({ type: 'string', format: 'date', description, example: '1990-12-10' });
}

/** Defines a list, limited to the maximum length that applies in every API. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).max(maxListLength, `must have at most ${maxListLength} values`);
}

/** Creates the schema for a field that a change replaces as a whole. Null clears the field unless it is required. */
export function changed<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(withoutNulls, schema).nullish();
}

const map = z
  .record(z.string(), z.string().openapi({ maxLength: longest.memo }))
  .openapi({ maxProperties: maxEntries });

const bounds = `At most ${maxEntries} pairs. A key consists of 1 to 40 letters, digits, dots, hyphens and underscores; a value has at most ${longest.memo} characters.`;

export const metadata = map.optional().describe("The platform's own key-value pairs; absent if there are none.");

export const newMetadata = map
  .optional()
  .describe(`Your own key-value pairs to store with the object, visible to apps and in webhooks. ${bounds}`);

export const changedMetadata = changed(map).describe(
  `Your own key-value pairs, which replace all pairs stored with the object; {} or null removes the stored pairs. ${bounds}`,
);

/** Defines a string validated by a domain rule, which returns a description of what is wrong, or undefined. */
export const checked = (faultIn: (value: string) => string | undefined) =>
  z.string().superRefine((value, context) => {
    const message = faultIn(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Defines free text, such as a name, with a maximum length in characters. */
export const text = (maxLength: number, isKey = false) =>
  checked((value) => {
    const fault = textFault(canonicalText(value), maxLength, isKey);
    return fault && `the text ${fault}`;
  }).openapi({ minLength: 1, maxLength });

export const ownKey = () => text(longest.key, true);

/** Defines facts about a party, keyed by name. */
export const facts = () =>
  z
    .record(z.string(), z.string().openapi({ minLength: 1, maxLength: longest.memo }))
    .openapi({ maxProperties: maxFacts });

/** Converts facts to the list that commands take. */
export const factList = (given: Readonly<Record<string, string>>) =>
  Object.entries(given).map(([name, value]) => ({ name, value }));

const countryCode = (description: string) =>
  checked(countryFault).openapi({ description, example: 'US', pattern: '^[A-Z]{2}$' });

export const AddressSchema = requestObject('Address', {
  line1: text(longest.line).describe('The first line of the address: street and number.'),
  line2: text(longest.line).optional().describe('The second line of the address.'),
  city: text(longest.word).optional().describe('The city.'),
  state: text(longest.word).optional().describe('The state or province.'),
  postalCode: text(longest.postalCode).describe('The postal code.'),
  country: countryCode('The country, as an ISO 3166-1 alpha-2 code.'),
}).describe('A postal address.');

/** The fields shared by customers and bank account owners: these for people, `companyFields` for companies. */
export const personFields = {
  birthDate: day('Date of birth.').optional(),
  nationality: countryCode('Nationality, as an ISO 3166-1 alpha-2 code.').optional(),
  address: AddressSchema.optional(),
};
export const companyFields = {
  legalName: text(longest.name).describe('Legal name.'),
  registrationNumber: text(longest.number).optional().describe('Company registration number.'),
  taxId: text(longest.number).optional().describe('Tax number.'),
};
