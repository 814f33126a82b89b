/** Where to find a platform's real ids: the OpenAPI document says where they are in the responses to some GETs. */
interface Guide {
  readonly unique: string;
  /** Example ids to replace with ids of the sandbox's payer, each with the name of the payer's id. */
  readonly payer: Readonly<Record<string, string>>;
  readonly ids: readonly {
    readonly find: string;
    /** For a list: the path of a number in an item. The item with the largest number is used. */
    readonly most?: string;
    /** For a list: values in an item, by path. The first item that has them is used. */
    readonly with?: Readonly<Record<string, string>>;
    readonly at: Readonly<Record<string, string>>;
  }[];
}

export interface ExampleDocument {
  servers: readonly { readonly url: string }[];
  readonly 'x-example-guide': Guide;
}

/**
 * Finds the platform's own ids for the example ids, with GET requests. Refused requests are skipped.
 * @param payer the ids of a customer who can pay, where known
 */
export async function findIds(
  { 'x-example-guide': guide }: ExampleDocument,
  get: (path: string) => Promise<unknown>,
  payer: Readonly<Record<string, string>> = {},
): Promise<Map<string, string>> {
  const known = new Map(Object.entries(guide.payer).flatMap(([id, name]) => (payer[name] ? [[id, payer[name]]] : [])));
  const found = new Map(known);
  for (const { find, most, with: values, at } of guide.ids) {
    const whole = await get(replaceAll(find, found));
    const items = memberAt(whole, '/data');
    const answer = most !== undefined ? greatest(items, most) : values ? firstWith(items, values) : whole;
    for (const [id, pointer] of Object.entries(at)) {
      const own = memberAt(answer, pointer);
      if (typeof own === 'string' && !known.has(id)) found.set(id, own);
    }
  }
  return found;
}

/** Replaces the example ids in a document with the platform's, and puts new numbers into names that must be unique. */
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
  return { ...JSON.parse(text), 'x-example-guide': document['x-example-guide'] };
}

function greatest(items: unknown, pointer: string): unknown {
  if (!Array.isArray(items)) return undefined;
  const at = (item: unknown) => Number(memberAt(item, pointer) ?? 0);
  return items.reduce((best: unknown, item: unknown) => (at(item) > at(best) ? item : best), items[0]);
}

function firstWith(items: unknown, values: Readonly<Record<string, string>>): unknown {
  if (!Array.isArray(items)) return undefined;
  return items.find((item) => Object.entries(values).every(([pointer, value]) => memberAt(item, pointer) === value));
}

function replaceAll(text: string, ids: ReadonlyMap<string, string>): string {
  let replaced = text;
  for (const [id, own] of ids) replaced = replaced.replaceAll(id, own);
  return replaced;
}

/** Returns the value that a JSON pointer refers to (RFC 6901, plain names only). */
function memberAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}
