import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Figures, kindOfNode, tryOwner, tryStranger } from './matrix/cells.ts';
import { calls, nodeTypes, rootFields, unreachedFields } from './matrix/graphql-calls.ts';
import { graphqlCells, permissionOf, tryEnded, tryPermissions } from './matrix/graphql-matrix.ts';
import { restCells, restOperations, tryRestTokens } from './matrix/rest-matrix.ts';
import { tryStreams, tryWebhooks } from './matrix/streams.ts';
import { openMatrix } from './matrix/world.ts';

/**
 * The matrix of tenants and scopes. Its places are derived from the schema and the OpenAPI document. A new field or
 * argument is tested automatically, or the test fails until the tables in test/attack/matrix say what it means.
 */

const world = await openMatrix();
const operations = await restOperations(world.counting.url);

/** Tries cells and expects no faults. Returns the number of cells. */
async function loseNone(tryCells: (figures: Figures) => Promise<void>): Promise<number> {
  const figures: Figures = { tried: 0, lost: [] };
  await tryCells(figures);
  expect(figures.lost.join('\n')).toBe('');
  return figures.tried;
}

test('the matrix covers every field of the schema, with its permission', () => {
  expect(rootFields.filter((name) => !calls.some((call) => call.name === name))).toEqual([]);
  expect(unreachedFields()).toEqual([]);
  for (const call of calls) permissionOf(call);
  for (const { name } of nodeTypes()) kindOfNode(name);
});

/**
 * In the soak, each stranger tries every place over all transports. Otherwise, each of those in `sharing` tries a third
 * of the places.
 */
const isWhole = process.env.MATRIX === 'all';
const sharing = ['another customer with every grant', 'another quote', 'another transaction'];

test.each(['another platform', 'another customer', ...sharing, 'another payment of the same customer'])(
  "over GraphQL, a victim's object looks to %s as if it had never existed",
  async (name) => {
    const stranger = world.strangers.find((one) => one.name === name);
    if (!stranger) throw new Error(`there is no stranger named ${name}`);
    const turn = isWhole ? -1 : sharing.indexOf(name);
    const transports = isWhole ? (['JSON', 'event stream', 'socket'] as const) : undefined;
    const cells = graphqlCells(world, transports).filter((_cell, place) => turn < 0 || place % sharing.length === turn);
    const tried = await loseNone((all) => tryStranger(world, stranger, cells, all));
    expect(tried).toBeGreaterThan(turn < 0 ? 100 : 30);
  },
);

test('over GraphQL, a token without the required permission learns nothing about the objects that it names', async () => {
  await loseNone((all) => tryPermissions(world, all));
});

test('over GraphQL, expired and revoked credentials are rejected in the same way everywhere, and read nothing', async () => {
  await loseNone((all) => tryEnded(world, all));
});

test("strangers' streams and webhooks reveal nothing about what happens in the meantime", async () => {
  const tried = await loseNone(async (all) => {
    await tryStreams(world, all);
    await tryWebhooks(world, all);
  });
  expect(tried).toBeGreaterThan(20);
});

test("over REST, another platform's objects look as if they had never existed", async () => {
  await loseNone((all) => tryStranger(world, world.restStranger, restCells(world, operations), all));
});

test('over REST, app tokens, expired tokens and tokens without the required permission are refused, and read nothing', async () => {
  await loseNone((all) => tryRestTokens(world, operations, permissionsInDocs(), all));
});

/** The permissions in the table in docs/rest.md, by method and path. */
function permissionsInDocs(): Map<string, string> {
  const found = new Map<string, string>();
  for (const row of readFileSync('docs/rest.md', 'utf8').matchAll(
    /^\| (`[A-Z]+ \/.*?) \| .* \| ((?:VIEW|TRANSACT|MANAGE)(?: and VIEW|, or APPROVE)?)\b.*\|$/gm,
  )) {
    for (const [, line] of (row[1] ?? '').matchAll(/`([A-Z]+ \/[^`]*)`/g)) found.set(line ?? '', row[2] ?? '');
  }
  return found;
}

test("over REST, the owner's response differs from a stranger's at every place", async () => {
  // The owner deletes objects, so this test does not use the victim's objects, which the next test needs.
  await loseNone((all) => tryOwner({ ...world, victim: world.bystander }, restCells(world, operations), all));
});

test("over GraphQL, the owner's response differs from a stranger's at every place", async () => {
  await loseNone((all) => tryOwner(world, graphqlCells(world), all));
});
