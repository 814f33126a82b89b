import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Turns } from '../../src/api/http/turns.ts';

/** Tests how several tenants' requests take turns. The tests control the clock. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const platform = (key: string) => ({ key, isPlatform: true });
const stranger = { key: 'address 192.0.2.1', isPlatform: false };

/** Begins `count` requests. Returns a live count of those whose turn has come. */
function begin(turns: Turns, tenant: Parameters<Turns['begin']>[0], count: number) {
  const begun = { count: 0 };
  for (let sent = 0; sent < count; sent += 1) {
    const wait = turns.begin(tenant);
    if (wait) wait.then(() => (begun.count += 1));
    else begun.count += 1;
  }
  return begun;
}
const settled = () => new Promise(setImmediate);

test('while several platforms are active, each may have a few requests in progress, and the next starts when one ends', async () => {
  const turns = new Turns(3, 50);
  begin(turns, platform('b'), 1);
  const first = begin(turns, platform('a'), 3);
  const second = begin(turns, platform('a'), 2);
  // One platform's backlog does not delay another platform.
  expect([first.count, second.count, begin(turns, platform('b'), 2).count]).toEqual([3, 0, 2]);
  turns.end(platform('a'));
  await settled();
  expect(second.count).toBe(1);
  turns.end(platform('a'));
  turns.end(platform('a'));
  await settled();
  expect(second.count).toBe(2);
});

test("a platform counts as alone until another sends a request, and again one second after the other's last request", () => {
  const turns = new Turns(3, 50);
  const areAlone = () => ['a', 'b'].map((key) => turns.isAlone(platform(key)));
  begin(turns, platform('a'), 1);
  expect(areAlone()).toEqual([true, false]);
  begin(turns, platform('b'), 1);
  expect(areAlone()).toEqual([false, false]);
  // No request from the first platform has been admitted for five seconds, so only the other one is active.
  vi.advanceTimersByTime(5_000);
  begin(turns, platform('b'), 1);
  expect(areAlone()).toEqual([false, true]);
  vi.advanceTimersByTime(1_000);
  expect(areAlone()).toEqual([true, true]);
  expect(turns.isAlone({ key: 'address', isPlatform: false })).toBe(false);
});

test("a second after another platform's last request, all waiting requests start", async () => {
  const turns = new Turns(3, 50);
  begin(turns, platform('b'), 1);
  const storm = begin(turns, platform('a'), 10);
  vi.advanceTimersByTime(999);
  turns.end(platform('a'));
  await settled();
  expect(storm.count).toBe(4);
  vi.advanceTimersByTime(1);
  turns.end(platform('a'));
  await settled();
  expect(storm.count).toBe(10);
});

test('an operation on a connection releases its turn while it waits for an external system', async () => {
  const turns = new Turns(1, 50);
  begin(turns, platform('b'), 1);
  const first = await turns.takeTurn('a');
  const next = begin(turns, platform('a'), 1);
  expect(next.count).toBe(0);
  first.release();
  first.release();
  await settled();
  expect(next.count).toBe(1);
  // The operation continues without waiting for another turn, so both operations now count.
  first.retake();
  first.retake();
  first.end();
  first.end();
  expect(begin(turns, platform('a'), 1).count).toBe(0);
  turns.end(platform('a'));
  await settled();
  expect(begin(turns, platform('a'), 1).count).toBe(0);
});

test('clients without credentials are always limited by address, and never cause a platform to be limited', () => {
  const turns = new Turns(3, 50);
  expect(begin(turns, stranger, 5).count).toBe(3);
  expect(begin(turns, platform('a'), 10).count).toBe(10);
  expect(begin(turns, stranger, 5).count).toBe(0);
  expect(begin(turns, platform('a'), 10).count).toBe(10);
});
