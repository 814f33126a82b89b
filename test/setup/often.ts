import { usesBeforeCompiling } from '../../src/graphql/use-compiled-queries.ts';

/** How often to ask a query that it is executed as it came, then compiled, then with what was planned before. */
export const often = usesBeforeCompiling + 4;
