import { LRUCache } from 'lru-cache';

/**
 * Makes a cache of so many entries at most: the one that was used least recently makes room. It takes memory for what is in it.
 * With lru-cache's own `max` it would take that of all entries at once: 12 ms and 4 MB for the caches of an instance (bench/LOG.md).
 * @param ttlMs how long an entry is remembered, in milliseconds; without end, if left out
 */
export function boundedCache<Value extends NonNullable<unknown>>(max: number, ttlMs?: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs !== undefined && { ttl: ttlMs }) });
}
