import { z } from '@hono/zod-openapi';

const map = z.record(z.string(), z.string());
const bounds =
  'At most 20 keys of 1 to 40 letters, digits, dots, hyphens and underscores, each with at most 500 characters.';

/** The metadata of a record in a response. */
export const metadata = map
  .optional()
  .openapi({ description: 'What the platform has noted on it; absent when there is nothing.' });

/** The metadata of a new record. */
export const newMetadata = map.optional().openapi({ description: `What the platform notes on it. ${bounds}` });

/** The metadata of a changed record. */
export const changedMetadata = map.optional().openapi({
  description: `What the platform notes on it: replaces all that was noted, {} takes it away. ${bounds}`,
});
