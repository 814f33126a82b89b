import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { refusals } from '../src/core/refusal.ts';

const coverage = 'docs/coverage.md';
const decisions = 'docs/decisions.md';
const specification = 'docs/interface-specification.md';

const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...filesIn('docs').filter((path) => path.endsWith('.md')),
  ...filesIn('src').filter((path) => path.endsWith('.md')),
];

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.\w+$/.test(path));
}

const read = (path: string) => readFileSync(path, 'utf8');

const quotedIn = (text: string): string[] => foundIn(text, /`([^`\n]+)`/g);

function foundIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

/** Whether a source file contains the title as a string literal (for a parameterized test, with its placeholders). */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

describe('the coverage of the specification', () => {
  const quoted = quotedIn(read(coverage));

  test('names only tests that exist', () => {
    const named = quoted.filter((text) => text.startsWith('test/'));
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter((reference) => {
      const [path = '', ...titles] = reference.split(' › ');
      if (!existsSync(path)) return true;
      const source = read(path);
      return titles.some((title) => !hasTitle(source, title));
    });
    expect(missing).toEqual([]);
  });

  test('names only fields, mutations and subscriptions that exist in the schema', () => {
    const schema = buildSchema(read('schema.graphql'));
    const named = quoted.filter((text) => /^[A-Z]\w+\.\w+$/.test(text));
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter((reference) => {
      const [typeName = '', field = ''] = reference.split('.');
      const type = schema.getType(typeName);
      return !(isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) || !(field in type.getFields());
    });
    expect(missing).toEqual([]);
  });

  test('names every section and every rule of the specification, and no others', () => {
    const named = foundIn(read(coverage), /^\| (\d[\d., ]*) /gm).flatMap((numbers) => numbers.split(', '));
    expect(named.filter((number) => !sections.has(number))).toEqual([]);
    expect([...sections].filter((number) => number.includes('.') && !named.includes(number))).toEqual([]);
  });
});

/** The numbers of the specification's chapters, sections and rules. */
const sections = new Set(
  read(specification)
    .split(/^## (?=\d)/m)
    .slice(1)
    .flatMap((chapter) => {
      const [number = '', ...rules] = foundIn(chapter, /^(\d+)\. /gm);
      return [number, ...foundIn(chapter, /^### (\d+\.\d+) /gm), ...rules.map((rule) => `${number}.${rule}`)];
    }),
);

describe('a numbered citation', () => {
  const decided = new Set(foundIn(read(decisions), /^### Decision (\d+)$/gm));
  const citing = [
    ...['src', 'test', 'prisma/functions'].flatMap(filesIn).filter((path) => !path.includes('database/generated')),
    ...['prisma/schema.prisma', 'schema.graphql', ...pages.filter((page) => page !== specification)],
  ].filter((path) => path !== 'test/docs.test.ts');

  /** Returns the file as one line, because a citation may have a line break between its word and its number. */
  const textOf = (path: string) => read(path).replace(/\s*\n\s*(\*|\/\/+|--)?\s*/g, ' ');

  /** Returns every number cited after the given word, as in "word 2.6", "words 3 and 13" or "word 4.8 to 4.10". */
  const cited = (word: RegExp, number: string) =>
    citing.flatMap((path) =>
      foundIn(textOf(path), new RegExp(`\\b${word.source} (${number}(?:(?:, | and | to )${number})*)`, 'gi'))
        .flatMap((numbers) => numbers.split(/, | and | to /))
        .map((found) => ({ path, number: found })),
    );

  test('of the specification names an existing section', () => {
    const found = cited(/specification/, '\\d+(?:\\.\\d+)?');
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ number }) => !sections.has(number))).toEqual([]);
  });

  test('of a decision names a decision that is recorded exactly once', () => {
    const found = cited(/decisions?/, '\\d+');
    expect(found.length).toBeGreaterThan(50);
    expect(found.filter(({ number }) => !decided.has(number))).toEqual([]);
    const numbers = foundIn(read(decisions), /^### Decision (\d+)$/gm).map(Number);
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  test('says what the number refers to', () => {
    const alone = citing
      .filter((path) => !path.endsWith('.md'))
      .filter((path) => /(?<!\w)\((section )?\d+\.\d+\)/.test(textOf(path)));
    expect(alone).toEqual([]);
  });
});

test('every refusal code is in the table of decision 46, with its status', () => {
  const table = read(decisions).split('### Decision 46')[1]?.split('### ')[0] ?? '';
  const written = [...table.matchAll(/^\| (\d+) \| ([A-Z_, ]+)/gm)].flatMap(([, status, codes = '']) =>
    codes
      .trim()
      .split(', ')
      .map((code) => [code, Number(status)] as const),
  );
  expect(Object.fromEntries(written)).toEqual(refusals);
});

describe.each(pages)('%s', (page) => {
  test('has relative links only to existing files and headings', () => {
    const links = foundIn(read(page), /\]\(([^)\s]+)\)/g).filter((target) => !/^[a-z]+:/i.test(target));
    const dead = links.filter((target) => {
      const [path, heading] = target.split('#');
      const file = path ? join(dirname(page), path) : page;
      return !existsSync(file) || (heading !== undefined && !headingsOf(file).has(heading));
    });
    expect(dead).toEqual([]);
  });

  test('names only files that exist', () => {
    const named = quotedIn(read(page)).filter((text) => /^(src|test|docs|prisma|bench|\.ci)\/[\w./-]*$/.test(text));
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

function headingsOf(page: string): ReadonlySet<string> {
  const headings = foundIn(read(page).toLowerCase(), /^#+ (.+)$/gm);
  return new Set(headings.map((heading) => heading.replace(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-')));
}

describe('the import diagram', () => {
  /** The lines of the diagram. The first one contains the column titles. */
  const picture = (/^## Imports\n.*?\n\n( {4}.*?)\n\n(?=\S)/ms.exec(read('ARCHITECTURE.md'))?.[1] ?? '')
    .split('\n')
    .map((line) => line.slice(4));
  const [titles = ''] = picture;
  const columns = [...titles.matchAll(/\S+( \S+)*/g)].map(({ index, 0: title }, position, all) => ({
    title,
    around: title.replace(/^(all of|within) /, '').replace(/^src$/, ''),
    lines: picture
      .slice(1)
      .map((line) => line.slice(index, all[position + 1]?.index).trim())
      .filter((line) => line !== '')
      .map((line) => (line === 'own files' ? [''] : line.split(/ +/))),
  }));

  const { forbidden }: { forbidden: { name: string; from: { path: string }; to: { pathNot: string[] } }[] } =
    createRequire(import.meta.url)('../.dependency-cruiser.cjs');
  const folders = new Map(
    forbidden
      .filter(({ name }) => name.startsWith('from-'))
      .map(({ from, to }) => {
        const [, folder = ''] = /^\^src\/([\w/-]+?)\/(?:\(|$)/.exec(from.path) ?? [];
        return [folder, to.pathNot.map((pattern) => new RegExp(pattern))] as const;
      }),
  );

  test.each(columns)('shows every folder in the column $title, and no folder imports upward', ({ around, lines }) => {
    /** Returns the line that shows the folder or one above it, or undefined if the column does not cover the folder. */
    const lineOf = (folder: string): { name: string; line: number } | undefined => {
      if (around !== '' && folder !== around && !folder.startsWith(`${around}/`)) return undefined;
      const names = (around === '' ? folder : folder.slice(around.length + 1)).split('/');
      const paths = names.map((_name, at) => names.slice(0, names.length - at).join('/'));
      const name = paths.find((path) => lines.some((line) => line.includes(path))) ?? names.join('/');
      return { name, line: lines.findIndex((line) => line.includes(name)) };
    };
    const wrong = [...folders].flatMap(([folder, allowed]) => {
      const from = lineOf(folder);
      if (!from) return [];
      if (from.line < 0) return [`${folder} is not in it`];
      return [...folders.keys()]
        .filter((other) => allowed.some((pattern) => pattern.test(`src/${other}/file.ts`)))
        .filter((other) => {
          const to = lineOf(other);
          return to && to.name !== from.name && to.line <= from.line;
        })
        .map((other) => `${folder} may import ${other}`);
    });
    expect(lines.length).toBeGreaterThan(3);
    expect(wrong).toEqual([]);
  });
});
