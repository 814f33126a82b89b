import { ledgerBugs } from './ledger-bugs.ts';
import type { Bug } from './plant.ts';
import { serviceBugs } from './service-bugs.ts';

/** All bugs that `npm run soak -- planted` plants, one at a time. */
export const bugs: readonly Bug[] = [...ledgerBugs, ...serviceBugs];
