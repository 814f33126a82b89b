import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { RefusalPace } from '../../src/domain/access/limits/refusal-pace.ts';

// When refusals are sent that arrive at one moment, in milliseconds.

const pace = () => new RefusalPace(() => 0);
const waits = (count: number, of = pace(), source = 'platform') => Array.from({ length: count }, () => of.next(source));

describe('refusals of one source', () => {
  test('the first 50 are sent at once', () => {
    expect(waits(50)).toEqual(Array.from({ length: 50 }, () => 0));
  });

  test('those beyond are sent 20 a second', () => {
    expect(waits(290).slice(51)).toEqual(Array.from({ length: 239 }, (_none, at) => (at + 1) * 50));
  });

  test('none waits for more than twelve seconds, and those that would are not sent together', () => {
    const last = waits(900).slice(290);
    expect(Math.max(...last)).toBeLessThanOrEqual(12_000);
    const perTenth = Map.groupBy(last, (ms) => Math.floor(ms / 100));
    // 610 in three seconds: evenly spread they are 20 or 21 in each tenth.
    expect(Math.max(...Array.from(perTenth.values(), ({ length }) => length))).toBeLessThan(30);
  });

  test('are spread as evenly while another source storms, too', () => {
    const both = pace();
    // By turns with two of another: a spread that they shared would give each third place to this one.
    const turns = Array.from({ length: 900 }, () => [both.next('platform'), both.next('other'), both.next('other')]);
    expect(turns.map(([first]) => first)).toEqual(waits(900));
  });

  test('do not wait for an instance that stops', async () => {
    const ending = pace();
    waits(200, ending);
    const waiting = ending.wait('platform');
    ending.end();
    // Each would wait for seven seconds and a half.
    const ended = Promise.all([waiting, ending.wait('platform')]);
    expect(await Promise.race([ended.then(() => 'sent'), delay(3_000, 'waiting')])).toBe('sent');
  });

  test('do not make those of another wait', () => {
    const both = pace();
    waits(200, both, 'one');
    expect(waits(50, both, 'other')).toEqual(waits(50));
  });
});
