import { LRUCache } from 'lru-cache';

/**
 * Makes a cache with a bounded number of entries: the least recently used one is evicted. Its memory grows with its contents. With
 * lru-cache's own `max` it would be allocated at once: 12 ms and 4 MB for the caches of an instance (bench/LOG.md).
 * @param ttlMs how long an entry is cached, in milliseconds; forever by default
 */
export function boundedCache<Value extends NonNullable<unknown>>(max: number, ttlMs?: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs !== undefined && { ttl: ttlMs }) });
}
