import { databaseFaults } from './database-faults.ts';
import { frontFaults } from './front-faults.ts';
import { recordFaults } from './record-faults.ts';
import { requestFaults } from './request-faults.ts';
import type { StagedFault } from './staged-fault.ts';
import { workFaults } from './work-faults.ts';

/** The faults of instances that clients call themselves. */
const ofInstances = { ...databaseFaults, ...requestFaults, ...workFaults, ...recordFaults };

/** What faults are staged on. */
interface Scene {
  /** Whether clients call a front before the instances, which have a replica. */
  readonly hasFront: boolean;
  readonly faults: Readonly<Record<string, StagedFault>>;
}

/** All faults that `npm run soak -- alerts` stages. Each alert has one. */
export const scenes: readonly Scene[] = [
  { hasFront: false, faults: ofInstances },
  { hasFront: true, faults: frontFaults },
];

export const stagedFaults: Readonly<Record<string, StagedFault>> = { ...ofInstances, ...frontFaults };
