import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { buildSchema, parse, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runSchemaCommand } from '../../src/cli/schema.ts';
import { formOf } from '../../src/documents/document-form.ts';
import { findBreakage, usersOf } from '../../src/documents/schema-users.ts';
import { printedSchema } from '../../src/graphql/server/schema.ts';
import { feedEnd } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { nextOf } from '../setup/streams.ts';

/** Which documents clients send is counted, so that a change of the schema names who breaks. */

describe('a gateway', () => {
  let t: TestGateway;
  let rows: readonly { client: string; text: string; uses: string }[];
  beforeAll(async () => {
    // Nothing is written before its end.
    t = await startTestGateway({}, undefined, { pace: { usesMs: 3_600_000 } });
    const send = (query: string, headers: Record<string, string>, variables?: object) =>
      fetch(`${t.url}/graphql`, {
        method: 'POST',
        headers: { authorization: t.platform.authorization, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      });
    const ios = { 'apollographql-client-name': 'ios', 'apollographql-client-version': '1.2' };
    await send('{ customer(id: "Customer:one") { id } }', ios);
    await send('{ customer(id: "Customer:two")   { id } }', ios);
    await send('{ viewer { kind } }', { 'graphql-client-name': 'web' });
    await send('{ nothing }', ios);
    const after = await feedEnd(t.platform);
    await t.platform.ask(
      'mutation { createCustomer(input: { platformCustomerId: "counted", details: { individual: { fullName: "Ada" } } }) { __typename } }',
    );
    await nextOf(t.platform.watch(`subscription { events(after: "${after}") { cursor } }`));
    await t.gateway.stop();
    const found = await t.owner.query(
      `select client_name || ' ' || client_version as client, text, uses from document_use order by text`,
    );
    rows = found.rows;
  });
  afterAll(async () => {
    await t.owner.end();
  });

  test('counts what was executed, by document and client, with no value in it', () => {
    expect(rows).toEqual([
      {
        client: ' ',
        uses: '1',
        text: 'mutation{createCustomer(input:{platformCustomerId:"" details:{individual:{fullName:""}}}){__typename}}',
      },
      { client: ' ', uses: '1', text: 'subscription{events(after:""){cursor}}' },
      { client: 'ios 1.2', uses: '2', text: '{customer(id:""){id}}' },
      { client: ' ', uses: '1', text: '{viewer{feedCursor}}' },
      { client: 'web ', uses: '1', text: '{viewer{kind}}' },
    ]);
  });
});

test('a platform with very many clients keeps no other from being counted', async () => {
  const t = await startTestGateway({}, undefined, { pace: { usesMs: 3_600_000 } });
  const quiet = await t.newPlatform('quiet');
  const named = (client: number) =>
    fetch(`${t.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: t.platform.authorization,
        'content-type': 'application/json',
        'graphql-client-name': `client ${client}`,
      },
      body: JSON.stringify({ query: '{ viewer { kind } }' }),
    });
  for (let first = 0; first < 550; first += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_none, at) => named(first + at)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
  await quiet.ask('{ viewer { kind } }');
  await t.gateway.stop();
  const { rows } = await t.owner.query(
    'select p.name, count(*)::int as clients from document_use d join platform p on p.id = d.platform_id group by 1 order by 1',
  );
  expect(rows).toEqual([
    { name: 'quiet', clients: 1 },
    { name: 'test', clients: 500 },
  ]);
  await t.owner.end();
});

test('a counted document has the names of the schema, and none of the values', () => {
  const text = '{ a(ids: ["one", "two"], amount: 12, filter: { status: [FAILED], name: "Ada" }, rate: 1.5, on: true) }';
  expect(formOf(parse(text)).text).toBe('{a(ids:[]amount:0 filter:{status:[FAILED]name:""}rate:0 on:true)}');
});

const before = buildSchema(`
  type Query { account(id: ID!, kind: Kind): Account accounts(filter: Filter): [Account!]! count: Int }
  interface Account { id: ID! name: String! }
  type Internal implements Account { id: ID! name: String! balance: Int! status: Status }
  enum Kind { A B }
  enum Status { ACTIVE CLOSED }
  input Filter { kind: Kind name: String }
`);
const document = (text: string) => ({
  text,
  users: [{ platform: 'acme', client: 'ios 1.2', uses: 3, lastUsedAt: new Date(0) }],
});
const byFragment = document('{ accounts { id ... on Internal { balance } } }');
const byInterface = document('{ account(id: "", kind: A) { name } }');
const byVariable = document('query ($filter: Filter) { accounts(filter: $filter) { id } }');
const all = [byFragment, byInterface, byVariable];

test.each([
  ['Internal.balance', [byFragment]],
  ['Internal.name', [byInterface]],
  ['Account.name', [byInterface]],
  ['Query.account(kind:)', [byInterface]],
  ['Kind.A', [byInterface, byVariable]],
  ['Kind.B', [byVariable]],
  ['Filter.name', [byVariable]],
  ['Status.CLOSED', []],
])('%s names the documents that use it, also behind interfaces and in variables', (coordinate, used) => {
  expect(usersOf(before, coordinate, all)).toEqual(used);
});

test.each([
  ['removes a field', 'balance: Int! ', '', [byFragment], 1],
  ['removes what nobody sends', 'status: Status', 'other: Int', [], 1],
  ['makes a result null', 'balance: Int!', 'balance: Int', [byFragment], 1],
  ['makes a result never null', 'status: Status', 'status: Status!', [], 0],
  ['removes a value that a variable may have', 'A B', 'A', [byVariable], 1],
  ['asks for an argument', 'kind: Kind)', 'kind: Kind, at: ID!)', [byInterface], 1],
])('a schema that %s breaks those who send it, and no others', async (_what, from, to, broken, changes) => {
  const text = printSchema(before).replace(/\s+/g, ' ');
  expect(text).toContain(from);
  const found = findBreakage(before, buildSchema(text.replace(from, to)), all);
  expect(found.broken.map(({ reasons: _reasons, ...used }) => used)).toEqual(broken);
  expect(found.changes, String(found.changes)).toHaveLength(changes);
});

test('the command names who breaks since a revision, and fails then', async () => {
  const folder = await mkdtemp('/tmp/schema-uses-');
  const [uses, old] = [`${folder}/uses.json`, `${folder}/old.graphql`];
  await writeFile(uses, JSON.stringify([document('{ viewer { kind gone } }'), document('{ viewer { kind } }')]));
  await writeFile(old, printedSchema().replace(/^type Viewer \{$/m, 'type Viewer {\n  gone: Int'));
  const out: string[] = [];
  const spies = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((line) => out.push(line)),
  );
  expect(await runSchemaCommand(['--breaks', old, '--uses', uses])).toBe(1);
  expect(await runSchemaCommand(['--who-uses', 'Viewer.kind', '--uses', uses])).toBe(0);
  for (const spy of spies) spy.mockRestore();
  expect(out[0]).toMatch(
    /Viewer\.gone was removed\.[\s\S]*✗ Cannot query field "gone"[\s\S]*acme, ios 1\.2: 3 times, last 1970/,
  );
  expect(out[1]).toMatch(/^\{ viewer \{ kind \} \}/);
  await rm(folder, { recursive: true });
});
