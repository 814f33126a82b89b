import { test } from 'vitest';
import { openGround } from '../model/ground.ts';
import { runSequences } from '../model/run.ts';

test('120 random sequences of all commands match the model, and money is conserved after each command', async () => {
  await runSequences(openGround, 120, 12, 580_000);
}, 600_000);
