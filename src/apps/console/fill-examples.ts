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
    const list = memberAt(whole, '/data');
    const items = Array.isArray(list) ? list : [];
    const ofMost = (item: unknown) => Number(most === undefined ? 0 : (memberAt(item, most) ?? 0));
    const isWanted = (item: unknown) =>
      Object.entries(values ?? {}).every(([pointer, value]) => memberAt(item, pointer) === value);
    const [item] = items.filter(isWanted).toSorted((one, other) => ofMost(other) - ofMost(one));
    const answer = most === undefined && !values ? whole : item;
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

function replaceAll(text: string, ids: ReadonlyMap<string, string>): string {
  let replaced = text;
  for (const [id, own] of ids) replaced = replaced.replaceAll(id, own);
  return replaced;
}

/** Returns the value that a JSON pointer refers to (RFC 6901, plain names only). */
function memberAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => Object(at)[name], value);
}
