import type { Operator } from '../../src/domain/access/operator-acts.ts';

/** The person in whose name tests act as an operator. */
export const tester: Operator = { by: 'a test', act: 'test' };
