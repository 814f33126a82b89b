import { Refusal } from '../../../../core/refusal.ts';
import type { Metadata } from '../../../../domain/commands/metadata.ts';
import { trustedJson } from '../../../../infra/database/trusted-json.ts';
import type { Read } from '../../reading/reads.ts';
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

/** Describes the field of metadata. */
export const metadataDescription =
  'What the platform has noted on it, ordered by key. Who may see the record sees it, apps too.';

/** Reads the metadata of a row. */
export const metadataRead: Read = {
  kind: 'values',
  from: ({ row }, alias) => ({
    from: [`jsonb_each(${row}.metadata) as ${alias}(key, value)`],
    orderBy: `${alias}.key collate "C"`,
    env: { json: `jsonb_build_object('key', ${alias}.key, 'value', ${alias}.value)` },
  }),
};

/** Returns the metadata of a row, ordered by key. Keys are ASCII. */
export function metadataEntries({ metadata }: { readonly metadata: unknown }): Entry[] {
  // checkMetadata has checked that it has this form.
  const entries = Object.entries(trustedJson<Metadata | null>(metadata) ?? {});
  return entries.map(([key, value]) => ({ key, value })).sort((a, b) => (a.key < b.key ? -1 : 1));
}

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
