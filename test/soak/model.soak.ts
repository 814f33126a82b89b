import { test } from 'vitest';
import { runSequences } from '../model/run.ts';

test('5,000 random sequences of all commands go as the model says, and money is conserved after each command', async () => {
  await runSequences(5_000, 40, 7_000_000);
}, 7_200_000);
