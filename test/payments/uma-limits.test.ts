import { test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { respectLimits } from '../setup/uma-limits.ts';

const t = await testGateway();

test('a receiver lookup states limits that a quote respects, in each pair of currencies', async () => {
  await respectLimits(t, await t.newPlatform('other'), (accounts) => accounts);
});
