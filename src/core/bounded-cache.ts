import { LRUCache } from 'lru-cache';

/** Creates an LRU cache whose memory grows with its contents. lru-cache's own `max` allocates memory up front. */
export function boundedCache<Value extends NonNullable<unknown>>(max: number, ttlMs?: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs !== undefined && { ttl: ttlMs }) });
}

/** Creates a cache like `boundedCache` whose `memo` method returns a key's value, creating it if it is missing. */
export function boundedMemo<Value extends NonNullable<unknown>>(max: number, create: (key: string) => Value) {
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, memoMethod: create });
}
