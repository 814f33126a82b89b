import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bugs, planted, standsFor } from './soak/planted-bugs/plant.ts';

/** The short form of `npm run soak -- planted`: each quoted passage and each named test must exist. */

test('there are at least thirty bugs, in SQL and in TypeScript, each with a name of its own', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(30);
  const inSql = bugs.filter(({ file }) => file.startsWith('prisma/'));
  expect(inSql.length).toBeGreaterThanOrEqual(12);
  expect(bugs.length - inSql.length).toBeGreaterThanOrEqual(12);
});

test.each(bugs.map((bug) => [bug.name, bug] as const))('each can be planted, and its test exists: %s', (_name, bug) => {
  expect(planted('.', bug).size).toBeGreaterThan(0);
  const { file, title } = bug.caughtBy;
  const source = readFileSync(file, 'utf8');
  expect(
    ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`)),
    `${file} › ${title}`,
  ).toBe(true);
});

test('a bug cannot be planted at a passage that is missing or occurs twice', () => {
  const bug = { file: 'package.json', put: '', also: [] };
  expect(() => planted('.', { ...bug, find: 'no such text' })).toThrow('0 times');
  expect(() => planted('.', { ...bug, find: '"' })).toThrow('times instead of once');
});

test('a parameterized title matches the titles of all its rows, and no others', () => {
  expect(standsFor('of a %s', 'of a quote')).toBe(true);
  expect(standsFor('3.3 from %s to %s as the table says', '3.3 from PENDING to ACTIVE as the table says')).toBe(true);
  expect(standsFor('never goes below zero', 'never goes below zero or so')).toBe(false);
});
