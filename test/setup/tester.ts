import type { Operator } from '../../src/domain/access/operator-acts.ts';

/** Who does what a test does in the name of an operator. */
export const tester: Operator = { by: 'a test', act: 'test' };
