import { expect, test } from 'vitest';
import { statement } from '../../src/database/statement.ts';

test('two texts cannot have one name: a connection that had prepared the one would refuse the other', () => {
  statement('a_test_of_names', 'select 1');
  expect(() => statement('a_test_of_names', 'select 1')).not.toThrow();
  expect(() => statement('a_test_of_names', 'select 2')).toThrow('two statements are named a_test_of_names');
});
