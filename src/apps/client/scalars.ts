/** The scalars of the schema as TypeScript types, for the `scalars` setting of GraphQL Code Generator. */
export const scalars = {
  /** Digits in JSON; an input may also be a whole number. Calculate with `BigInt(value)`: `number` would round it. */
  BigInt: { input: 'string | number', output: 'string' },
  CurrencyCode: { input: 'string', output: 'string' },
  Date: { input: 'string', output: 'string' },
  DateTime: { input: 'string', output: 'string' },
  Decimal: { input: 'string', output: 'string' },
  /** The name of a field, or a position in a list. */
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
