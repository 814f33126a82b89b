import { LRUCache } from 'lru-cache';

/**
 * Creates a cache with a bounded number of entries: the least recently used entry is evicted. Its memory grows with its
 * contents, whereas lru-cache's own `max` allocates it up front: 12 ms and 4 MB for an instance's caches
 * (bench/LOG.md).
 * @param ttlMs how long an entry is cached, in milliseconds; forever by default
 */
export function boundedCache<Value extends NonNullable<unknown>>(max: number, ttlMs?: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs !== undefined && { ttl: ttlMs }) });
}
