import { z } from '@hono/zod-openapi';

/** Returns JSON without the members that are null: they mean the same as absent ones (decision 6). */
export function withoutNulls(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(withoutNulls);
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => (value === null ? [] : [[name, withoutNulls(value)]])),
  );
}

/** Makes the schema of a field that a change replaces as a whole: null empties it, or says nothing where it cannot be empty. */
export function changed<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(withoutNulls, schema).nullish();
}
