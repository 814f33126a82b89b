import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { RefusalPace } from '../../src/domain/access/limits/rate-limits.ts';

// Tests how long refusals of concurrent requests are delayed. Times are in milliseconds.

const pace = () => new RefusalPace(() => 0);
const waits = (count: number, of = pace(), source = 'platform') => Array.from({ length: count }, () => of.next(source));

describe('refusals to one source', () => {
  test('are sent immediately up to the fiftieth', () => {
    expect(waits(50)).toEqual(Array.from({ length: 50 }, () => 0));
  });

  test('are sent at a rate of 20 per second after the fiftieth', () => {
    expect(waits(290).slice(51)).toEqual(Array.from({ length: 239 }, (_none, at) => (at + 1) * 50));
  });

  test('are delayed by at most twelve seconds, and are still spread out once that limit is reached', () => {
    const last = waits(900).slice(290);
    expect(Math.max(...last)).toBeLessThanOrEqual(12_000);
    const perTenth = Map.groupBy(last, (ms) => Math.floor(ms / 100));
    // 610 refusals spread evenly over three seconds: 20 or 21 in every tenth of a second.
    expect(Math.max(...Array.from(perTenth.values(), ({ length }) => length))).toBeLessThan(30);
  });

  test('are spread just as evenly while another source is flooding', () => {
    const both = pace();
    // For each request from this source, the other source sends two. If they shared slots, this source would get only
    // every third slot.
    const turns = Array.from({ length: 900 }, () => [both.next('platform'), both.next('other'), both.next('other')]);
    expect(turns.map(([first]) => first)).toEqual(waits(900));
  });

  test('are not delayed once the instance is stopping', async () => {
    const ending = pace();
    waits(200, ending);
    const waiting = ending.wait('platform');
    ending.end();
    // Otherwise, each of these refusals would be delayed by seven and a half seconds.
    const ended = Promise.all([waiting, ending.wait('platform')]);
    expect(await Promise.race([ended.then(() => 'sent'), delay(3_000, 'waiting')])).toBe('sent');
  });

  test('do not delay refusals to another source', () => {
    const both = pace();
    waits(200, both, 'one');
    expect(waits(50, both, 'other')).toEqual(waits(50));
  });
});
