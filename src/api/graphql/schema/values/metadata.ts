import { invalid } from '../../../../core/refusal.ts';
import { type Metadata, maxEntries } from '../../../../domain/commands/information.ts';
import { builder } from '../builder.ts';

/** Defines the metadata of a platform's records. It is a list of entries, because GraphQL has no map type. */

interface Entry {
  readonly key: string;
  readonly value: string;
}

export const MetadataEntry = builder.objectRef<Entry>('MetadataEntry').implement({
  description: 'A key-value pair that the platform stored with an object.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key of the entry.' }),
    value: t.exposeString('value', { description: 'The value of the entry.' }),
  }),
});

export const noted = {
  isSorted: true,
  description:
    'The key-value pairs that the platform stored with the object, ordered by key. Everyone who can see the object, including apps, can read them.',
} as const;

export const MetadataInput = builder.inputType('MetadataInput', {
  description: 'A key-value pair to store with an object. Each key may occur only once.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: 'The key: 1 to 40 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.',
    }),
    value: t.string({ required: true, description: 'The value: at most 500 characters.' }),
  }),
});

export const newMetadata = `Your own key-value pairs to store with the object, visible to apps and in webhooks. At most ${maxEntries} pairs. A client token that sets them is refused with FORBIDDEN.`;

export const changedMetadata = `Your own key-value pairs, which replace all pairs stored with the object. At most ${maxEntries} pairs. An empty list or null removes the stored pairs. If this field is omitted, they stay as they are.`;

/** Converts an input's list to a map. Throws INVALID_INPUT with the path of a repeated key. */
export function metadataOf(list: readonly Entry[] | null | undefined): Metadata | null | undefined {
  if (!list) return list;
  for (const [position, { key }] of list.entries()) {
    if (list.findIndex((entry) => entry.key === key) < position) {
      throw invalid(`the key ${JSON.stringify(key)} is given twice`, ['metadata', position]);
    }
  }
  return Object.fromEntries(list.map(({ key, value }) => [key, value]));
}
