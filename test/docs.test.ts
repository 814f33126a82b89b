import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';

const coverage = 'docs/specification.md';
const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
);

/** Everything between backticks on one line. */
function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, quoted = '']) => quoted);
}

/** Whether a source file has the title as a string literal: the template itself, where a test runs once for each row. */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

describe('the coverage of the specification', () => {
  const quoted = quotedIn(readFileSync(coverage, 'utf8'));

  test('names only tests that exist', () => {
    const named = quoted.filter((text) => text.startsWith('test/'));
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter((reference) => {
      const [path = '', ...titles] = reference.split(' › ');
      if (!existsSync(path)) return true;
      const source = readFileSync(path, 'utf8');
      return titles.some((title) => !hasTitle(source, title));
    });
    expect(missing).toEqual([]);
  });

  test('names only fields, mutations and subscriptions that the schema has', () => {
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
    const named = quoted.filter((text) => /^[A-Z]\w+\.\w+$/.test(text));
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter((reference) => {
      const [typeName = '', field = ''] = reference.split('.');
      const type = schema.getType(typeName);
      return !(isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) || !(field in type.getFields());
    });
    expect(missing).toEqual([]);
  });
});

test.each(pages)('every relative link of %s leads somewhere', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const relative = links.filter((target) => !/^([a-z]+:|#)/i.test(target)).map((target) => target.replace(/#.*$/, ''));
  expect(relative.filter((target) => !existsSync(join(dirname(page), target)))).toEqual([]);
});
