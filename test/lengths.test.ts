import { expect, test } from 'vitest';
import { faultsIn, maxFileLines, maxFunctionLines, tooLong } from './setup/lengths.ts';

const lines = (count: number) => Array.from({ length: count }, (_, line) => `  f(${line});`).join('\n');

test.each([
  ['a function', (body: string) => `// é\nexport function long() {\n${body}\n}\n`, 'long'],
  ['a function in a constant', (body: string) => `const long = () => {\n${body}\n};\n`, 'long'],
  ['a method', (body: string) => `class A {\n  async long() {\n${body}\n  }\n}\n`, 'long'],
  ['a private method', (body: string) => `class A {\n  #long() {\n${body}\n  }\n}\n`, 'long'],
  ['a method of an object', (body: string) => `call({\n  long: async () => {\n${body}\n  },\n});\n`, 'long'],
  ['a function without a name', (body: string) => `call(() => {\n${body}\n});\n`, 'a function'],
])('%s has a maximum number of lines, counted from its first to its last', (_kind, text, name) => {
  expect(tooLong({ 'a.ts': text(lines(maxFunctionLines - 2)) })).toEqual([]);
  expect(tooLong({ 'a.ts': text(lines(maxFunctionLines - 1)) })).toEqual([
    { name: `a.ts ${name}`, lines: maxFunctionLines + 1 },
  ]);
});

test('a file has a maximum number of lines, however it ends', () => {
  expect(tooLong({ 'a.ts': `${lines(maxFileLines)}\n` })).toEqual([]);
  expect(tooLong({ 'a.ts': lines(maxFileLines + 1) })).toEqual([{ name: 'a.ts', lines: maxFileLines + 1 }]);
});

test('an exempt function must not grow, and must leave the list once it is short enough', () => {
  expect(faultsIn([{ name: 'a', lines: 80 }], { a: 80 })).toEqual([]);
  expect(faultsIn([{ name: 'a', lines: 81 }], { a: 80 })).toEqual(['a has 81 lines']);
  expect(faultsIn([], { a: 80 })).toHaveLength(1);
});
