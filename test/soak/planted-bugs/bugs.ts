import { accessBugs } from './access-bugs.ts';
import { apiBugs } from './api-bugs.ts';
import { commitBugs } from './commit-bugs.ts';
import { domainBugs } from './domain-bugs.ts';
import { functionBugs } from './function-bugs.ts';
import { graphqlBugs } from './graphql-bugs.ts';
import { infraBugs } from './infra-bugs.ts';
import { operatorBugs } from './operator-bugs.ts';
import { type Bug, bugsOf } from './plant.ts';
import { settlementBugs } from './settlement-bugs.ts';

/** All bugs that `npm run soak -- planted` plants, one at a time, each with a name. */
export const bugs: readonly (Bug & { readonly name: string })[] = [
  ...[commitBugs, functionBugs, graphqlBugs, apiBugs, accessBugs, domainBugs, settlementBugs, infraBugs, operatorBugs],
]
  .flatMap(bugsOf)
  .map((bug) => {
    const [find, put] = [bug.find, bug.put].map((text) => text.replace(/\s+/g, ' ').trim());
    return { ...bug, name: `${bug.caughtBy.title} (${bug.file}: ${find} → ${put || 'nothing'})` };
  });
