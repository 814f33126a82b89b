import type { Operator } from '../../src/access/operator-acts.ts';

/** Who does what a test does in the name of an operator. */
export const tester: Operator = { by: 'a test', act: 'test' };
