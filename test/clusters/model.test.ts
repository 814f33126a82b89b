import { test } from 'vitest';
import { runSequences } from '../model/run.ts';
import { twoClusters } from '../model/two-clusters.ts';

test('16 random sequences of commands on platforms of two clusters, which pay each other, go as the model says; both ledgers are sound and both books the same', async () => {
  await runSequences(twoClusters, 16, 40, 280_000);
}, 300_000);
