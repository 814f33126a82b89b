import { databaseFaults } from './database-faults.ts';
import { recordFaults } from './record-faults.ts';
import { requestFaults } from './request-faults.ts';
import type { StagedFault } from './staged-fault.ts';
import { workFaults } from './work-faults.ts';

/** All faults that `npm run soak -- alerts` stages. Each alert has one. */
export const stagedFaults: Readonly<Record<string, StagedFault>> = {
  ...databaseFaults,
  ...requestFaults,
  ...workFaults,
  ...recordFaults,
};
