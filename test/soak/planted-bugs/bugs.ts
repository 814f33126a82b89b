import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bug, bugsIn } from './plant.ts';

/** All bugs that `npm run soak -- planted` plants, one at a time, each under its own name. */
export const bugs: readonly (Bug & { readonly name: string })[] = globSync(join(import.meta.dirname, '*.diff'))
  .sort()
  .flatMap((list) => bugsIn(readFileSync(list, 'utf8')))
  .map((bug) => {
    const [find, put] = [bug.find, bug.put].map((text) => text.replace(/\s+/g, ' ').trim());
    return { ...bug, name: `${bug.caughtBy.title} (${bug.file}: ${find} → ${put || 'nothing'})` };
  });
