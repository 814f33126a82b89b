import { test } from 'vitest';
import { oneCluster } from '../model/one-cluster.ts';
import { runSequences } from '../model/run.ts';
import { twoClusters } from '../model/two-clusters.ts';

/** Fewer or more of them, where several processes share the work: each draws seeds of its own. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 5_000);

test(`${sequences} random sequences of all commands go as the model says, and money is conserved after each command`, async () => {
  await runSequences(oneCluster, sequences, 24, 7_000_000);
}, 7_200_000);

/** They take longer: half of their payments wait for two clusters. */
const sequencesAcross = Math.ceil(sequences / 10);

test(`${sequencesAcross} random sequences of commands on platforms of two clusters, which pay each other, go as the model says; both ledgers are sound and both books the same`, async () => {
  await runSequences(twoClusters, sequencesAcross, 24, 7_000_000);
}, 7_200_000);
