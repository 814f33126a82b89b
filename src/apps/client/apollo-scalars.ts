import { type InMemoryCacheConfig, Scalar, type TypePolicies } from '@apollo/client';
import { apolloCache } from './apollo-cache.ts';
import { scalarFields, scalarInputs } from './generated/schema-facts.ts';

/** The types that the app declares. */
export type { ParsedScalars } from './scalars.ts';

/**
 * Returns the settings for a cache that parses scalars, in Apollo Client 4.3 or newer: those of `apolloCache`, with
 * BigInt as `bigint` and DateTime as `Date` in results and variables. The app must declare both types.
 */
export function apolloScalars() {
  const { possibleTypes, typePolicies } = apolloCache();
  const policies: Record<string, { fields?: object }> = { ...typePolicies };
  for (const [type, fields] of Object.entries(scalarFields)) {
    const parsed = Object.entries(fields).map(([field, scalar]) => [field, { scalar }] as const);
    policies[type] = { ...policies[type], fields: { ...policies[type]?.fields, ...Object.fromEntries(parsed) } };
  }
  const inputs = Object.entries(scalarInputs).map(([name, fields]) => [name, { fields }] as const);
  return {
    possibleTypes,
    // Apollo's types include only the scalars that the app declares.
    typePolicies: policies as TypePolicies,
    inputObjects: Object.fromEntries(inputs) as NonNullable<InMemoryCacheConfig['inputObjects']>,
    scalars: {
      BigInt: new Scalar<string, bigint>({
        parse: (text) => BigInt(text),
        serialize: (value) => value.toString(),
        is: (value) => typeof value === 'bigint',
      }),
      DateTime: new Scalar<string, Date>({
        parse: (text) => new Date(text),
        serialize: (value) => value.toISOString(),
        is: (value) => value instanceof Date,
      }),
    },
  };
}
