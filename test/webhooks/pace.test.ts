import { expect, test } from 'vitest';
import { paceOf, retryAfterSeconds } from '../../src/api/webhooks/delivery/pace.ts';

const hour = 3_600_000;

test('ten attempts are spread over about three days, and each pause is within 20 % of the schedule', () => {
  const planned = [5_000, 300_000, hour / 2, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  for (const [random, factor] of [
    [0, 0.8],
    [0.5, 1],
    [1, 1.2],
  ] as const) {
    const pace = paceOf(1, () => random);
    const pauses = planned.map((_, failures) => pace.nextInMs(failures + 1, undefined) ?? 0);
    pauses.forEach((pause, index) => {
      expect(pause).toBeCloseTo((planned[index] ?? 0) * factor, 3);
    });
    expect(pace.nextInMs(planned.length + 1, undefined)).toBe(undefined);
  }
  expect(planned.reduce((sum, pause) => sum + pause) / (24 * hour)).toBeCloseTo(3.15, 1);
});

test('in production, attempts time out after 15 s, or after 5 s while connecting, and leases expire after 30 s', () => {
  expect(paceOf(1)).toMatchObject({ attemptMs: 15_000, connectMs: 5_000, leaseMs: 30_000 });
  expect(paceOf(1)).toMatchObject({ disableAfterMs: 5 * 24 * hour, rotationMs: 24 * hour });
});

test('Retry-After is a number of seconds or a date, and anything else is ignored', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  expect(retryAfterSeconds('120', now)).toBe(120);
  expect(retryAfterSeconds('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60);
  expect(retryAfterSeconds('Wed, 31 Dec 2025 00:01:00 GMT', now)).toBe(0);
  expect(retryAfterSeconds('3600.5', now)).toBe(3_600.5);
  expect(retryAfterSeconds('99999999999', now)).toBe(99_999_999_999);
  for (const nonsense of [undefined, '', '-5', 'soon', '1e3', '3000-5', '3600, 60'])
    expect([nonsense, retryAfterSeconds(nonsense, now)]).toEqual([nonsense, undefined]);
});
