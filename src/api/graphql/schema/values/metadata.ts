import { Refusal } from '../../../../core/refusal.ts';
import type { Metadata } from '../../../../domain/commands/metadata.ts';
import { builder } from '../builder.ts';

/** What a platform notes on its records (decision 69), as a list: a map has no type in GraphQL. */

interface Entry {
  readonly key: string;
  readonly value: string;
}

export const MetadataEntry = builder.objectRef<Entry>('MetadataEntry').implement({
  description: 'Something that the platform has noted on a record.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its key.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
});

/** The options of the field of metadata. */
export const noted = {
  isSorted: true,
  description: 'What the platform has noted on it, ordered by key. Who may see the record sees it, apps too.',
} as const;

export const MetadataInput = builder.inputType('MetadataInput', {
  description: 'Something to note on a record: at most 20 entries, each key once.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: '1 to 40 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.',
    }),
    value: t.string({ required: true, description: 'At most 500 characters.' }),
  }),
});

/** Describes the input of metadata where a record is made. */
export const newMetadata = 'Key-value pairs that the platform stores with it. Client tokens cannot set them.';

/** Describes the input of metadata where a record changes. */
export const changedMetadata =
  'Key-value pairs that the platform stores with it: replaces all of it. An empty list removes it; left out or null, it stays.';

/**
 * Converts the list of an input to a map.
 * @throws Refusal INVALID_INPUT with the path of an entry whose key was given before
 */
export function metadataOf(list: readonly Entry[] | null | undefined): Metadata | undefined {
  if (!list) return undefined;
  for (const [position, { key }] of list.entries()) {
    if (list.findIndex((entry) => entry.key === key) < position) {
      throw new Refusal('INVALID_INPUT', `the key ${JSON.stringify(key)} is given twice`, {
        path: ['metadata', position],
      });
    }
  }
  return Object.fromEntries(list.map(({ key, value }) => [key, value]));
}
