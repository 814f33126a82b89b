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

/** Documents by their text, more than a thousand of what apps ask. Each weighs its text twice, its tree and its validity. */
export function keptDocuments(): LRUCache<string, DocumentNode> {
  return new LRUCache({
    maxSize: 32 * mebibyte,
    sizeCalculation: (document, text) => 2 * text.length + 6 * kibibyte + 400 * tokensOf(document),
  });
}

/** Of malformed documents: they are read again each time, which ends where they are wrong. */
export const nothingKept = { get: () => undefined, set: () => undefined };

/** What is made of documents, so much of it; `sizeOf` says what it weighs by the tokens of its document. */
class Kept<Key extends object | string, Value extends object> {
  readonly #cache: LRUCache<Key, Value>;
  readonly #sizeOf: (tokens: number) => number;

  constructor(maxSize: number, sizeOf: (tokens: number) => number, dispose?: (value: Value, key: Key) => void) {
    this.#cache = new LRUCache({ maxSize, ...(dispose && { dispose }) });
    this.#sizeOf = sizeOf;
  }

  get(key: Key): Value | undefined {
    return this.#cache.get(key);
  }

  set(key: Key, value: Value, madeOf: DocumentNode): void {
    this.#cache.set(key, value, { size: this.#sizeOf(tokensOf(madeOf)) });
  }
}

/**
 * Compiled queries, some four hundred.
 * @param forgotten told of each that gives way to others
 */
export function keptCompiled<Key extends object, Compiled extends object>(forgotten: (key: Key) => void) {
  return new Kept<Key, Compiled>(
    32 * mebibyte,
    (tokens) => 32 * kibibyte + 1_000 * tokens,
    (_compiled, key) => forgotten(key),
  );
}

/** Plans of queries, each for callers who see the same: some eight hundred. */
export function keptPlans<Plans extends object>() {
  return new Kept<string, Plans>(16 * mebibyte, (tokens) => 400 * tokens);
}
