import { accessBugs } from './access-bugs.ts';
import { accountBugs } from './account-bugs.ts';
import { attackBugs } from './attack-bugs.ts';
import { conditionBugs } from './condition-bugs.ts';
import { edgeBugs } from './edge-bugs.ts';
import { ledgerBugs } from './ledger-bugs.ts';
import { listBugs } from './list-bugs.ts';
import { operatorBugs } from './operator-bugs.ts';
import { outerEdgeBugs } from './outer-edge-bugs.ts';
import type { Bug } from './plant.ts';
import { policyBugs } from './policy-bugs.ts';
import { providerBugs } from './provider-bugs.ts';
import { recordBugs } from './record-bugs.ts';
import { serviceBugs } from './service-bugs.ts';
import { statusBugs } from './status-bugs.ts';

const lists = [
  ledgerBugs,
  statusBugs,
  accessBugs,
  serviceBugs,
  listBugs,
  attackBugs,
  outerEdgeBugs,
  recordBugs,
  providerBugs,
  operatorBugs,
  accountBugs,
  edgeBugs,
  conditionBugs,
  policyBugs,
];

/** All bugs that `npm run soak -- planted` plants, one at a time. */
export const bugs: readonly Bug[] = lists
  .flatMap((list) => Object.entries(list))
  .flatMap(([file, plantings]) =>
    Object.entries(plantings).map(([bug, { test, ...change }]) => ({
      bug,
      ...change,
      caughtBy: { file, title: test },
    })),
  );
