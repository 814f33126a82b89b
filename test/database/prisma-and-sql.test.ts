import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { statementTexts } from '../../src/infra/database/statement.ts';

/** Compares the code with docs/prisma.md, which says what goes through Prisma and what is written in SQL. */

const read = (path: string) => readFileSync(path, 'utf8');

/** Returns the cells, row by row, of the page's table whose first column has the given heading. */
function tableOf(page: string, column: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${column} |`));
  expect(start).toBeGreaterThan(0);
  const end = lines.findIndex((line, place) => place > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const twice = (names: readonly string[]) => names.filter((name, place) => names.indexOf(name) !== place);

/** The table of each Prisma delegate, such as `api_token` for `apiToken`. */
const tables = new Map(
  [...read('prisma/schema.prisma').matchAll(/^model (\w+) \{(.*?)^\}/gms)].map(([, model = '', fields = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(fields)?.[1] ?? model;
    return [model.charAt(0).toLowerCase() + model.slice(1), table];
  }),
);

/** All source files except the generated client and the browser code of the lab and the console. */
const files = globSync('src/**/*.ts').filter(
  (file) => !/^src\/(infra\/database\/generated|apps\/lab|apps\/console)\//.test(file),
);
const sources = new Map(files.map((file) => [file, read(file)]));
const functions = globSync('prisma/functions/*/*.sql').map(read);
const page = read('docs/prisma.md');

beforeAll(async () => {
  // A statement is registered when its file is loaded. Programs and browser code define none, and loading them would
  // run them.
  const programs = ['src/main.ts', 'src/api/pages/build.ts'];
  const isLeftOut = (file: string) =>
    programs.includes(file) || /^src\/apps\/(lab|console)\//.test(file) || file.endsWith('.d.ts');
  for (const file of files.filter((one) => !isLeftOut(one))) await import(/* @vite-ignore */ pathToFileURL(file).href);
});

/** The service's statements by name. Other tests in the same worker may have added their own. */
const statements = () => [...statementTexts()].filter(([name]) => !name.includes('test_of_'));

const sqlWrite = /\b(?:insert\s+into|update(?:\s+only)?|delete\s+from)\s+(?:public\.)?"?(\w+)/gi;
const prismaCall = new RegExp(`\\b(${[...tables.keys()].join('|')})\\s*\\.\\s*([a-z]\\w+)\\(`, 'g');
const writing = /^(create|update|upsert|delete)/;
const reading = /^(find|count$|aggregate$|groupBy$)/;

function throughPrisma(kind: RegExp): Set<string | undefined> {
  const calls = [...sources.values()].flatMap((source) => [...source.matchAll(prismaCall)]);
  return new Set(calls.filter(([, , method = '']) => kind.test(method)).map(([, model = '']) => tables.get(model)));
}

describe('the page about Prisma and SQL', () => {
  test('says how each table is written to, and whether Prisma reads it', () => {
    const texts = [...statements().map(([, text]) => text), ...functions];
    const bySql = new Set(texts.flatMap((text) => [...text.matchAll(sqlWrite)].map(([, table]) => table)));
    const byPrisma = throughPrisma(writing);
    const readByPrisma = throughPrisma(reading);
    const derived = [...tables.values()].map((table) => {
      const ways = [...(byPrisma.has(table) ? ['Prisma'] : []), ...(bySql.has(table) ? ['SQL'] : [])];
      return [table, ways.join(' and ') || 'nobody', readByPrisma.has(table) ? 'yes' : 'no'].join(' | ');
    });
    const said = tableOf(page, 'Table').map(([table = '', ...cells]) => [...quoted(table), ...cells.slice(0, 2)]);
    expect(said.map((cells) => cells.join(' | ')).sort()).toEqual(derived.sort());
  });

  test('names every handwritten statement once, under the reason for it', () => {
    const said = tableOf(page, 'Why').flatMap(([, , names = '']) => quoted(names));
    expect(twice(said)).toEqual([]);
    expect(said.sort()).toEqual(
      statements()
        .map(([name]) => name)
        .sort(),
    );
  });

  test('names every file that sends unnamed SQL', () => {
    const bare = files.filter((file) => /(?<!req)\.query[<(]/.test(sources.get(file) ?? ''));
    const said = tableOf(page, 'File').flatMap(([file = '']) => quoted(file));
    expect(said.sort()).toEqual(bare.sort());
  });
});

/** Files that may name the forbidden calls, because they guard against them. */
const guards = [
  'src/infra/database/connections/prisma-driver.ts',
  'src/api/graphql/reading/stock.ts',
  'src/api/graphql/reading/words.ts',
];

test('Prisma starts no transactions, sends no SQL, writes one table at a time and reads for one caller at a time', () => {
  // `findUnique` calls in the same tick share a statement, which runs on behalf of the first caller.
  const forbidden = [
    /\bfindUnique/,
    /\.\$transaction\b/,
    /\.\$(query|execute)Raw/,
    /\b(createMany|connectOrCreate|upsert)\s*[:(]/,
  ];
  const nested = /\bcreate:\s*[[{]/;
  const found = files.filter((file) => {
    const source = sources.get(file) ?? '';
    return !guards.includes(file) && [...forbidden, nested].some((form) => form.test(source));
  });
  expect(found).toEqual([]);
});
