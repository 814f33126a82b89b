/** The schema's scalars as TypeScript types, for GraphQL Code Generator's `scalars` setting. */
export const scalars = {
  /** A string of digits; an input may also be a whole number. Calculate with `BigInt(value)`: `number` would round. */
  BigInt: { input: 'string | number', output: 'string' },
  CurrencyCode: { input: 'string', output: 'string' },
  Date: { input: 'string', output: 'string' },
  DateTime: { input: 'string', output: 'string' },
  Decimal: { input: 'string', output: 'string' },
  /** The name of a field, or a position in a list. */
  PathSegment: { input: 'string | number', output: 'string | number' },
} as const;

/** The scalars for the Relay compiler's `customScalarTypes` setting. */
export const relayScalars: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(scalars).map(([name, { output }]) => [name, output]),
);

/** The scalars that an app's cache parses, with their types. Declared by the app and used by `Parsed`. */
// biome-ignore lint/suspicious/noEmptyInterface: apps add its members by declaration merging
export interface ParsedScalars {}

/** A scalar as a string. Its type includes the scalar's name, so that `Parsed` can replace it. */
export type ScalarText<Scalar extends string> = string & { readonly __scalar?: Scalar };

/** Replaces the JSON type of each scalar, usually string, with the type that the app's cache parses it into. */
export type Parsed<Value> = keyof ParsedScalars extends never
  ? Value
  : Value extends string
    ? '__scalar' extends keyof Value
      ? NonNullable<Value['__scalar']> extends infer Scalar extends keyof ParsedScalars
        ? ParsedScalars[Scalar]
        : Value
      : Value
    : Value extends object
      ? { [Key in keyof Value]: Parsed<Value[Key]> }
      : Value;
