import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { translatePath } from '../../src/core/refusal.ts';

test('a path is mapped once, using the entry that is its longest prefix', () => {
  const table = [
    [['details'], ['customerType']],
    [['details', 'address'], ['address']],
    [['address'], ['elsewhere']],
  ] as const;
  expect(translatePath(['details'], table)).toEqual(['customerType']);
  expect(translatePath(['details', 'address', 'country'], table)).toEqual(['address', 'country']);
  expect(translatePath(['name'], table)).toEqual(['name']);
  expect(translatePath(['detail', 's'], table)).toEqual(['detail', 's']);
});

function textsIn(call: string): string[] {
  let depth = 0;
  const end = [...call].findIndex((letter) => {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    return depth === 0;
  });
  const words = call.slice(0, end).match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? [];
  return words.map((text) => text.replaceAll(/\$\{[^}]*\}/g, ''));
}

test("a refusal's message names no field; its path does, using each API's own name", () => {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('generated') });
  const sources = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const texts = sources.flatMap(({ file, text }) =>
    text
      .split(/new Refusal|\binvalid(?=\()/)
      .slice(1)
      .flatMap((call) => textsIn(call).filter((words) => words.includes(' ')))
      .map((words) => `${file}: ${words}`),
  );
  expect(texts.length).toBeGreaterThan(80);
  // Only field names have this form.
  expect(texts.filter((words) => /\b[a-z]+[A-Z]\w*/.test(words.slice(words.indexOf(':'))))).toEqual([]);
});
