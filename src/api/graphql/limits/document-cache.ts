import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { maxTokensParsed } from './budget.ts';

/**
 * Creates the caches of documents and plans. Each is bounded by the weight of its entries, since anyone, even without
 * credentials, can send documents that are never sent again. All other data about a document is in WeakMaps keyed by
 * its tree, and is collected with it. The weights were measured on documents of 14 to 2,000 tokens; an app's document
 * has about 50.
 */

const mebibyte = 2 ** 20;
const kibibyte = 2 ** 10;

function tokensOf(document: DocumentNode): number {
  // The parser sets it; the type is optional because trees can be built without a parser.
  return document.tokenCount ?? maxTokensParsed;
}

/**
 * Creates the cache of parsed documents by text, with space for more than a thousand app documents. An entry consists
 * of its text (two bytes per character), its tree and its validity. Malformed documents are not cached, since parsing
 * stops at the first error.
 */
export function documentCache(): LRUCache<string, DocumentNode> {
  return new LRUCache({
    maxSize: 32 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + 6 * kibibyte + 400 * tokensOf(document),
  });
}

/** Creates the cache of query plans by key, with space for about eight hundred. */
export function planCache<Plan extends object>() {
  const plans = new LRUCache<string, Plan>({ maxSize: 16 * mebibyte });
  return {
    get: (key: string): Plan | undefined => plans.get(key),
    set: (key: string, plan: Plan, source: DocumentNode): void => {
      plans.set(key, plan, { size: 2 * kibibyte + 600 * tokensOf(source) });
    },
  };
}
