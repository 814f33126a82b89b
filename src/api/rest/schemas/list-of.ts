import { z } from '@hono/zod-openapi';
import { maxListLength } from '../../../core/checks.ts';

/** Defines a list in a response: never longer than those of requests. */
export function listed<Item extends z.ZodType>(item: Item) {
  return z.array(item).openapi({ maxItems: maxListLength });
}

/** Defines a list in a request: as long as lists of every API may be. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).max(maxListLength, `must have at most ${maxListLength} values`);
}
