import type { Data } from './gateway.ts';

/** A string in the body of a REST request. */
interface RestText {
  /** The schema that contains the string. */
  readonly owner: string;
  readonly path: readonly string[];
  readonly schema: Data;
  /** Returns a minimal body with this string. */
  readonly put: (text: string) => unknown;
}

/** Finds the strings in a schema of the OpenAPI document, except those below the schemas named in `skipped`. */
export function restTexts(
  document: Data,
  owner: string,
  given: Data,
  skipped: ReadonlySet<string> = new Set(),
): RestText[] {
  const name: string | undefined = given.$ref?.split('/').at(-1);
  if (name !== undefined && skipped.has(name)) return [];
  const schema = name === undefined ? given : document.components.schemas[name];
  const here = name ?? owner;
  const above = name === undefined ? skipped : new Set([...skipped, name]);
  const below = (step: string, one: Data, around: (value: unknown) => unknown) =>
    restTexts(document, here, one, above).map((text) => ({
      ...text,
      path: [step, ...text.path],
      put: (value: string) => around(text.put(value)),
    }));
  const { oneOf, anyOf, allOf, properties = {}, additionalProperties, items } = schema;
  const members = Object.entries<Data>({
    ...properties,
    ...(typeof additionalProperties === 'object' && { '*': additionalProperties }),
  });
  return [
    ...(oneOf ?? anyOf ?? allOf ?? []).flatMap((one: Data) => restTexts(document, here, one, above)),
    ...members.flatMap(([member, one]) =>
      below(member, one, (value) => ({ ...minimalOf(document, schema), [member]: value })),
    ),
    ...(items ? below('0', items, (value) => [value]) : []),
    ...(isRestText(schema) ? [{ owner: here, path: [], schema, put: (text: string) => text }] : []),
  ];
}

/** Returns whether a schema accepts arbitrary strings, as opposed to only enum values or dates. */
export function isRestText(schema: Data): boolean {
  const isString = [schema.type].flat().includes('string');
  return isString && !schema.enum && schema.const === undefined && !schema.format?.startsWith('date');
}

function minimalOf(document: Data, given: Data): Data {
  const schema = given.$ref ? document.components.schemas[given.$ref.split('/').at(-1)] : given;
  const variant = schema.oneOf ?? schema.anyOf;
  if (variant) return minimalOf(document, variant[0]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    return Object.fromEntries(
      (schema.required ?? []).map((name: string) => [name, minimalOf(document, schema.properties[name])]),
    );
  }
  const types = [schema.type].flat();
  if (types.includes('array')) return [];
  if (types.includes('string')) return schema.example ?? 'x1';
  return types.some((type) => type === 'integer' || type === 'number') ? 1 : false;
}
