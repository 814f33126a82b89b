import { test } from 'vitest';
import { openGround } from '../model/ground.ts';
import { runSequences } from '../model/run.ts';

/** Fewer or more of them, where several processes share the work: each draws seeds of its own. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 5_000);

test(`${sequences} random sequences of all commands go as the model says, and money is conserved after each command`, async () => {
  await runSequences(openGround, sequences, 24, 7_000_000);
}, 7_200_000);
