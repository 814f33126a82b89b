import { expect, test } from 'vitest';
import { RecentEvents } from '../../src/domain/events/reads.ts';
import type { Event } from '../../src/infra/database/generated/client/client.ts';

/** Tests the in-memory cache of the newest events. */

const event = (sequence: number, text = '', platformId = 'a', epoch: number | null = null): Event =>
  ({ platformId, epoch, sequence: BigInt(sequence), snapshot: { text } }) as unknown as Event;
const hub = (head: number, epoch: number | null = null) => ({ platformId: 'a', epoch, head: BigInt(head) });
const sequences = (events: readonly Event[]) => events.map(({ sequence }) => Number(sequence));

test('the events read from memory have no gaps, and older ones can be added later', () => {
  const recent = new RecentEvents();
  for (const sequence of [5, 6, 7, 9]) recent.add(event(sequence));
  expect(sequences(recent.after(hub(9), 4n, 2))).toEqual([5, 6]);
  expect(recent.after(hub(9), 3n, 2)).toEqual([]);
  for (const sequence of [3, 4, 5]) recent.add(event(sequence));
  expect(sequences(recent.after(hub(9), 2n, 9))).toEqual([3, 4, 5, 6, 7]);
  expect(sequences(recent.after(hub(9), 8n, 9))).toEqual([9]);
});

test('events of another platform or epoch, or beyond the end of the feed, are not read from memory', () => {
  const recent = new RecentEvents();
  for (const one of [event(1, '', 'b'), event(2), event(2, '', 'a', 7), event(3)]) recent.add(one);
  expect(recent.after(hub(9), 0n, 9)).toEqual([]);
  expect(sequences(recent.after(hub(2), 1n, 9))).toEqual([2]);
  expect(recent.after(hub(9, 7), 1n, 9)).toEqual([event(2, '', 'a', 7)]);
});

test('the total size of the events in memory is limited', () => {
  const recent = new RecentEvents(10_000);
  for (let sequence = 1; sequence <= 10; sequence += 1) recent.add(event(sequence, 'x'.repeat(3_000)));
  expect(recent.after(hub(10), 6n, 1)).toEqual([]);
  expect(sequences(recent.after(hub(10), 7n, 9))).toEqual([8, 9, 10]);
});
