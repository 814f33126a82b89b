import { LRUCache } from 'lru-cache';

/** Creates an LRU cache whose memory grows with its contents. lru-cache's own `max` would allocate it up front. */
export function boundedCache<Value extends NonNullable<unknown>>(max: number, ttlMs?: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs !== undefined && { ttl: ttlMs }) });
}
