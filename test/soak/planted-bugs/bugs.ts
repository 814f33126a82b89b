import { accessBugs } from './access-bugs.ts';
import { accountBugs } from './account-bugs.ts';
import { attackBugs } from './attack-bugs.ts';
import { ledgerBugs } from './ledger-bugs.ts';
import { listBugs } from './list-bugs.ts';
import { operatorBugs } from './operator-bugs.ts';
import type { Bug } from './plant.ts';
import { providerBugs } from './provider-bugs.ts';
import { recordBugs } from './record-bugs.ts';
import { serviceBugs } from './service-bugs.ts';
import { statusBugs } from './status-bugs.ts';

/** All bugs that `npm run soak -- planted` plants, one at a time. */
export const bugs: readonly Bug[] = [
  ...ledgerBugs,
  ...statusBugs,
  ...accessBugs,
  ...serviceBugs,
  ...listBugs,
  ...attackBugs,
  ...recordBugs,
  ...providerBugs,
  ...operatorBugs,
  ...accountBugs,
];
