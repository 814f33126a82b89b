import { expect, test } from 'vitest';
import { maxBytes, newestEvents, RecentEvents } from '../../src/domain/events/recent.ts';
import type { Event } from '../../src/infra/database/generated/client/client.ts';

/** Tests the cache of the newest events, which is kept in memory. */

const event = (sequence: number, text = ''): Event =>
  ({ sequence: BigInt(sequence), snapshot: { text } }) as unknown as Event;
const sequences = (events: readonly Event[] | undefined) => events?.map(({ sequence }) => Number(sequence));

test('the events kept in memory have no gap: after a gap they are replaced, and older ones are prepended', () => {
  const recent = new RecentEvents({ limit: maxBytes, used: 0 });
  for (const sequence of [5, 6, 7]) recent.add(event(sequence));
  expect(sequences(recent.after(4n, 2))).toEqual([5, 6]);
  expect(recent.after(3n, 2)).toBeUndefined();
  expect(recent.after(7n, 2)).toBeUndefined();
  recent.fill([3, 4, 5, 6].map((sequence) => event(sequence)));
  expect(sequences(recent.after(2n, 9))).toEqual([3, 4, 5, 6, 7]);
  recent.add(event(9));
  expect(recent.after(6n, 9)).toBeUndefined();
  expect(sequences(recent.after(8n, 9))).toEqual([9]);
});

test('memory is bounded by events per platform and by bytes in total', () => {
  const memory = { limit: 10_000, used: 0 };
  const recent = new RecentEvents(memory);
  for (let sequence = 1; sequence <= 3 * newestEvents; sequence += 1) recent.add({ ...event(sequence), snapshot: 1 });
  expect(sequences(recent.after(BigInt(2 * newestEvents), newestEvents + 1))).toHaveLength(newestEvents);
  expect(recent.at(BigInt(2 * newestEvents))).toBeUndefined();
  expect(memory.used).toBe(newestEvents);
  const other = new RecentEvents(memory);
  for (let sequence = 1; sequence <= 10; sequence += 1) {
    other.add(event(sequence, 'x'.repeat(3_000)));
    expect(memory.used).toBeLessThanOrEqual(10_000);
  }
  expect(sequences(other.after(8n, 9))).toEqual([9, 10]);
  recent.clear();
  other.clear();
  expect(memory.used).toBe(0);
});
