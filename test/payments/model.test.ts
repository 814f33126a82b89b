import { test } from 'vitest';
import { runSequences } from '../model/run.ts';

test('120 random sequences of all commands match the model, and money is conserved after each command', async () => {
  await runSequences(120, 12, 580_000);
}, 600_000);
