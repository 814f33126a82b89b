import { z } from '@hono/zod-openapi';
import { longest } from '../../../core/texts.ts';
import { changed } from './nulls.ts';

/** The name of a key that zod leaves out of every map, since it means something else to JavaScript. */
const hidden = '__proto__';

const map = z.record(z.string(), z.string().openapi({ maxLength: longest.memo }));

/** Refuses the key that would be left out silently. */
const sentMap = z.preprocess((value, { addIssue }) => {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, hidden)) {
    addIssue({ code: 'custom', path: [hidden], message: 'a key must begin with a letter or digit' });
  }
  return value;
}, map);
const bounds =
  'At most 20 keys of 1 to 40 letters, digits, dots, hyphens and underscores, each with at most 500 characters.';

/** The metadata of a record in a response. */
export const metadata = map.optional().describe("The platform's own key-value pairs; absent if there are none.");

/** The metadata of a new record. */
export const newMetadata = sentMap
  .optional()
  .describe(`Key-value pairs of your own to store with the object, visible to apps and in webhooks. ${bounds}`);

/** The metadata of a changed record. */
export const changedMetadata = changed(sentMap).describe(
  `Key-value pairs of your own, which replace all that are stored with the object; {} or null removes them. ${bounds}`,
);
