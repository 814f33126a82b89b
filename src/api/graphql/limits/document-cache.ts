import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { maxTokensParsed } from './budget.ts';

/**
 * The caches of documents and plans. Each is bounded by the weight of its entries, since anyone, strangers too, can send
 * documents that never come again. All other data about a document is in WeakMaps on its tree, and goes with it. The weights
 * were measured on documents of 14 to 2,000 tokens; the documents of apps have some 50.
 */

const mebibyte = 2 ** 20;
const kibibyte = 2 ** 10;

function tokensOf(document: DocumentNode): number {
  // The parser sets it; its type is optional for trees made in other ways.
  return document.tokenCount ?? maxTokensParsed;
}

/**
 * Creates the cache of parsed documents by their text, with space for more than a thousand of apps. The weight of one is its
 * text twice, its tree and its validity. Malformed documents are not cached: parsing them stops at the first error.
 */
export function documentCache(): LRUCache<string, DocumentNode> {
  return new LRUCache({
    maxSize: 32 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + 6 * kibibyte + 400 * tokensOf(document),
  });
}

/** Creates the cache of query plans by their keys, with space for about eight hundred. */
export function planCache<Plan extends object>() {
  const plans = new LRUCache<string, Plan>({ maxSize: 16 * mebibyte });
  return {
    get: (key: string): Plan | undefined => plans.get(key),
    set: (key: string, plan: Plan, source: DocumentNode): void => {
      plans.set(key, plan, { size: 2 * kibibyte + 600 * tokensOf(source) });
    },
  };
}
