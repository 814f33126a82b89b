import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectPrisma, readFunctions } from '../../src/infra/database/migrations/migration-files.ts';
import { testDatabase } from '../setup/database.ts';
import { testClient } from '../setup/gateway.ts';

// Compares docs/database-functions.md with the SQL that it describes.

const page = readFileSync('docs/database-functions.md', 'utf8');

const section = (heading: string) => page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';

const rowsOf = (heading: string) =>
  [...section(heading).matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | '));

const quotedIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

interface SqlSource {
  readonly name: string;
  /** The SQL without comments and string literals. */
  readonly code: string;
}
const sources: SqlSource[] = (await readFunctions(projectPrisma)).map(({ name, sql }) => ({
  name,
  code: sql.replace(/--.*$/gm, '').replace(/'[^']*'/g, "''"),
}));
const isExpression = ({ code }: SqlSource) => /^\s*language sql\b/m.test(code);
const expressions = sources.filter(isExpression).map(({ name }) => name);

const calledIn = (code: string) =>
  sources.map(({ name }) => name).filter((name) => new RegExp(`\\b${name}\\(`).test(code));

test('the page names every function, and its tables and diagram name no others', () => {
  const names = new Set(sources.map(({ name }) => name));
  const drawn = [...drawnCalls()].flatMap((call) => call.split(' → '));
  const said = new Set([...quotedIn(page), ...drawn]);
  expect([...names].filter((name) => !said.has(name))).toEqual([]);
  const first = ['Call graph', 'Lock order', 'Triggers'].flatMap((heading) =>
    rowsOf(heading).map(([cell = '']) => quotedIn(cell)[0] ?? ''),
  );
  expect([...first, ...drawn].filter((name) => !names.has(name))).toEqual([]);
});

test("the page's diagram shows which function calls which", () => {
  const calls = sources.flatMap(({ name, code }) => {
    const body = code.replace(/create or replace function \w+\(/, '');
    return calledIn(body)
      .filter((called) => !expressions.includes(called))
      .map((called) => `${name} → ${called}`);
  });
  expect([...drawnCalls()].toSorted()).toEqual(calls.toSorted());
});

/** Reads the diagram's arrows, such as `a --> b & c`, which may form chains and have labels. */
function drawnCalls(): Set<string> {
  const drawing = /^```mermaid\n(.*?)^```/ms.exec(page)?.[1] ?? '';
  const calls = new Set<string>();
  for (const line of drawing.split('\n')) {
    const stops = line.split(/-->(?:\|[^|]*\|)?/).map((stop) => stop.split('&').map((name) => name.trim()));
    for (const [at, callers] of stops.slice(0, -1).entries()) {
      for (const caller of callers) for (const called of stops[at + 1] ?? []) calls.add(`${caller} → ${called}`);
    }
  }
  return calls;
}

test('the page says which functions the application calls, and from where', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('generated'))
    .map((file) => join('src', file));
  const calls = files.flatMap((file) =>
    calledIn(readFileSync(file, 'utf8'))
      .filter((name) => !expressions.includes(name))
      .map((name) => `${name} ${file}`),
  );
  const said = rowsOf('Call graph').map(([name = '', file = '']) => `${name} ${file}`.replaceAll('`', ''));
  expect(said.toSorted()).toEqual(calls.toSorted());
});

test('the page says which locks each function takes and in which order, and functions that it does not list take no locks', () => {
  const said = rowsOf('Lock order').map(([name = '', locks = '']) => [
    quotedIn(name)[0],
    [...locks.matchAll(/\((advisory)|`(\w+)` ((?:no key update|share|update)(?: skip locked)?)/g)].map(
      ([, advisory, table, strength]) => advisory ?? `${table} ${strength}`,
    ),
  ]);
  const taken = sources.flatMap(({ name, code }) => {
    const locks = code.split(';').flatMap((statement) => {
      if (/\bpg_advisory_(xact_)?lock/.test(statement)) return ['advisory'];
      const strength = /\bfor ((?:no key update|share|update|key share)(?: skip locked)?)\b/.exec(statement)?.[1];
      return strength ? [`${/\bfrom (\w+)/.exec(statement)?.[1]} ${strength}`] : [];
    });
    return locks.length > 0 ? [[name, locks]] : [];
  });
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(taken));
});

test('the page lists the expressions', () => {
  expect(quotedIn(section('Expressions')).toSorted()).toEqual(expressions.toSorted());
});

const client = await testClient({ databaseUrl: (await testDatabase()).url });

describe('the page, compared with a migrated database,', () => {
  test('says what each trigger calls', async () => {
    const { rows } = await client.query<{ trigger: string }>(
      `select distinct tgfoid::regproc || ' ' || tgrelid::regclass || ' ' || case when tgtype & 2 > 0 then 'before' else 'after' end || ' '
         || concat_ws(' or ', case when tgtype & 4 > 0 then 'insert' end, case when tgtype & 16 > 0 then 'update' end,
              case when tgtype & 8 > 0 then 'delete' end, case when tgtype & 32 > 0 then 'truncate' end) as trigger
       from pg_trigger where not tgisinternal and tgparentid = 0`,
    );
    const said = rowsOf('Triggers').flatMap(([name = '', when = '']) =>
      [...when.matchAll(/`(\w+)` ((?:before|after) (?:\w+ or )*(?:insert|update|delete|truncate))/g)].map(
        ([, table, event]) => `${quotedIn(name)[0]} ${table} ${event}`,
      ),
    );
    expect(said.toSorted()).toEqual(rows.map(({ trigger }) => trigger.replaceAll('"', '')).toSorted());
  });

  test('says which functions check rows', async () => {
    const { rows } = await client.query<{ table: string; definition: string }>(
      `select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition from pg_constraint where contype = 'c'`,
    );
    const checks = rows.flatMap(({ table, definition }) => calledIn(definition).map((name) => `${name} ${table}`));
    const said = [...page.matchAll(/`(is_sound_\w+|same_person)` on `(\w+)`/g)].map(
      ([, name, table]) => `${name} ${table}`,
    );
    expect(said.toSorted()).toEqual(checks.toSorted());
  });
});
