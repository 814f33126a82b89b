import { describe, expect, test } from 'vitest';
import { RefusalPace } from '../../src/access/limits/refusal-pace.ts';

// When refusals are sent that arrive at one moment, in milliseconds.

const pace = () => new RefusalPace(() => 0);
const waits = (count: number, of = pace(), source = 'platform') => Array.from({ length: count }, () => of.next(source));

describe('refusals of one source', () => {
  test('the first 50 are sent at once', () => {
    expect(waits(50)).toEqual(Array.from({ length: 50 }, () => 0));
  });

  test('those beyond are sent 20 a second', () => {
    expect(waits(130).slice(51)).toEqual(Array.from({ length: 79 }, (_none, at) => (at + 1) * 50));
  });

  test('none waits for more than four seconds, and those that would are not sent together', () => {
    const last = waits(600).slice(130);
    expect(Math.max(...last)).toBeLessThanOrEqual(4_000);
    const perTenth = Map.groupBy(last, (ms) => Math.floor(ms / 100));
    // 470 in a second: evenly spread they are 47 in each tenth.
    expect(Array.from(perTenth.values(), ({ length }) => length).every((count) => count < 60)).toBe(true);
  });

  test('do not make those of another wait', () => {
    const both = pace();
    waits(200, both, 'one');
    expect(waits(50, both, 'other')).toEqual(waits(50));
  });
});
