import { test } from 'vitest';
import { runSequences } from '../model/run.ts';

/** The number of sequences; MODEL_SEQUENCES overrides it. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 60);

test(`${sequences} random sequences of all commands match the model, and money is conserved after each command`, async () => {
  await runSequences(sequences);
}, 7_200_000);
