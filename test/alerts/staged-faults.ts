import { databaseFaults } from './database-faults.ts';
import { recordFaults } from './record-faults.ts';
import { requestFaults } from './request-faults.ts';
import type { StagedFault } from './staged-fault.ts';
import { workFaults } from './work-faults.ts';

/** The faults of instances without a replica. */
const ofInstances = { ...databaseFaults, ...requestFaults, ...workFaults, ...recordFaults };

const ofReplica: Readonly<Record<string, StagedFault>> = {
  'replica away': {
    staged: 'the network refuses connections to the replica, and cuts the open ones',
    alerts: ['PaymentsReplicaAway'],
    async stage({ replica }) {
      await replica?.stopListening();
      return { end: () => replica?.startListening() };
    },
  },
};

/** The instances that faults are injected into. */
interface Scene {
  /** Whether the instances have a replica. */
  readonly hasReplica: boolean;
  readonly faults: Readonly<Record<string, StagedFault>>;
}

/** All faults that `npm run soak -- alerts` stages. Each alert has one. */
export const scenes: readonly Scene[] = [
  { hasReplica: false, faults: ofInstances },
  { hasReplica: true, faults: ofReplica },
];

export const stagedFaults: Readonly<Record<string, StagedFault>> = { ...ofInstances, ...ofReplica };
