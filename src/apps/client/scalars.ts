/** The scalars of the schema as TypeScript types, for the setting `scalars` of GraphQL Code Generator. */
export const scalars = {
  /** Digits in JSON; an input may also be a whole number. `BigInt(value)` counts with it, `number` would round it. */
  BigInt: { input: 'string | number', output: 'string' },
  CurrencyCode: { input: 'string', output: 'string' },
  Date: { input: 'string', output: 'string' },
  DateTime: { input: 'string', output: 'string' },
  Decimal: { input: 'string', output: 'string' },
  /** A name of a field, or a position in a list. */
  PathSegment: { input: 'string | number', output: 'string | number' },
} as const;

/** The scalars as custom scalars of Relay's compiler (`customScalarTypes`). */
export const relayScalars = {
  BigInt: 'string',
  CurrencyCode: 'string',
  Date: 'string',
  DateTime: 'string',
  Decimal: 'string',
  PathSegment: 'string | number',
} as const;
