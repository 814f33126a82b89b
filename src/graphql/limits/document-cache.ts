import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { mostTokensParsed } from './budget.ts';

/**
 * What stays in memory of the documents that were asked, each kind of it bounded by what it weighs: anyone can send
 * documents that never come again, strangers too. Whatever else is known of a document hangs on its tree and goes with it.
 * The weights were measured on documents of 14 to 2,000 tokens; what apps ask has some 50.
 */

const mebibyte = 2 ** 20;
const kibibyte = 2 ** 10;

function tokensOf(document: DocumentNode): number {
  // The parser counts them; its type leaves it open for trees that others made.
  return document.tokenCount ?? mostTokensParsed;
}

/**
 * Documents by their text, more than a thousand of what apps ask. Each weighs its text twice, its tree and its validity.
 * Malformed ones are not kept: they are read again each time, which ends where they are wrong.
 */
export function documentCache(): LRUCache<string, DocumentNode> {
  return new LRUCache({
    maxSize: 32 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + 6 * kibibyte + 400 * tokensOf(document),
  });
}

/** Plans of queries by their keys, some eight hundred. */
export function planCache<Plan extends object>() {
  const plans = new LRUCache<string, Plan>({ maxSize: 16 * mebibyte });
  return {
    get: (key: string): Plan | undefined => plans.get(key),
    set: (key: string, plan: Plan, madeOf: DocumentNode): void => {
      plans.set(key, plan, { size: 2 * kibibyte + 600 * tokensOf(madeOf) });
    },
  };
}
