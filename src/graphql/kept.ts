import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { documentBudget } from './budget.ts';

/**
 * What stays in memory of the documents that were asked, bounded by what it weighs: anyone can send documents that never
 * come again, strangers too. What else is known of a document hangs on its tree and goes with it (use-compiled-queries.ts,
 * document-size.ts, use-feed-head.ts, the validation cache of Yoga), but for the plans of its callers (shared-plans.ts).
 */

const mebibyte = 2 ** 20;

/** Of a document, for each of its tokens: its tree has 0.3 to 0.5 KiB (measured), and what it is compiled to up to 0.9. */
const documentBytesPerToken = 1_400;

/** Of a caller's plans of a document, for each of its tokens (measured: 0.1 to 0.4 KiB). */
const planBytesPerToken = 400;

function tokensOf(document: DocumentNode): number {
  // The parser counts them; its type leaves it open for trees that others made.
  return document.tokenCount ?? documentBudget.tokens;
}

/** Documents by their text: more than a thousand of what apps ask (some 40 tokens each). */
export function keptDocuments(): LRUCache<string, DocumentNode> {
  return new LRUCache({
    maxSize: 64 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + documentBytesPerToken * tokensOf(document),
  });
}

/** Plans by a key of their operation and its caller: more than a thousand of the same kind. */
export function keptPlans<Plans extends object>() {
  const cache = new LRUCache<string, Plans>({ maxSize: 16 * mebibyte });
  return {
    get: (key: string): Plans | undefined => cache.get(key),
    set: (key: string, plans: Plans, document: DocumentNode): void => {
      cache.set(key, plans, { size: planBytesPerToken * tokensOf(document) });
    },
  };
}

/** Of malformed documents: they are read again each time, which ends where they are wrong. */
export const nothingKept = { get: () => undefined, set: () => undefined };
