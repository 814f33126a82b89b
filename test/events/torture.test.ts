import { expect, test } from 'vitest';
import { torture } from '../setup/torture.ts';

/** test/soak/streams.soak.ts is the long version. */
test('20 subscribers that are cut off for 5 seconds and then resume see every change once and in order', async () => {
  const { changes, halfOpened } = await torture({ subscribers: 20, customers: 5, seconds: 5, rate: 100, kills: 2 });
  expect(changes).toBeGreaterThan(250);
  expect(halfOpened).toBeGreaterThan(0);
});
