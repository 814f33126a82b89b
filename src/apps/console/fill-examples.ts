/** The OpenAPI document's guide to replacing its example ids with real ones. */
interface Guide {
  readonly unique: string;
  /** Example ids, each mapped to the name of the payer's id that replaces it in the sandbox. */
  readonly payer: Readonly<Record<string, string>>;
  /** Other example ids, each with the path of a GET request whose response contains an id of the same type. */
  readonly ids: readonly (readonly [id: string, path: string])[];
}

export interface ExampleDocument {
  servers: readonly { readonly url: string }[];
  readonly 'x-example-guide': Guide;
}

/**
 * Finds the platform's own ids that replace the example ids.
 * @param get returns the text of the response to a GET request, or '' if the request was refused
 * @param payer the ids of a customer who can pay, by name
 */
export async function findIds(
  { 'x-example-guide': guide }: ExampleDocument,
  get: (path: string) => Promise<string>,
  payer: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const found = new Map(Object.entries(guide.payer).flatMap(([id, name]) => (payer[name] ? [[id, payer[name]]] : [])));
  for (const [id, path] of guide.ids) {
    const [type] = id.split(':');
    const [own] = new RegExp(`${type}:[\\w-]+`).exec(await get(replaceAll(path, found))) ?? [];
    if (own) found.set(id, own);
  }
  return found;
}

/** Replaces a document's example ids with the platform's ids, and puts new numbers into names that must be unique. */
export function fillExamples<Document extends ExampleDocument>(
  document: Document,
  ids: ReadonlyMap<string, string>,
): Document {
  const { unique } = document['x-example-guide'];
  const number = String(Math.floor(1_000_000 + Math.random() * 9_000_000));
  const filled = (value: unknown) => JSON.parse(replaceAll(JSON.stringify(value).replaceAll(unique, number), ids));
  const text = JSON.stringify(document, (name, value) =>
    name === 'example' || name === 'examples' ? filled(value) : value,
  );
  return JSON.parse(text);
}

function replaceAll(text: string, ids: ReadonlyMap<string, string>): string {
  return [...ids].reduce((replaced, [id, own]) => replaced.replaceAll(id, own), text);
}
