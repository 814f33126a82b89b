import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { type Figures, kindOfNode, tryOwner, tryStranger } from './matrix/cells.ts';
import { calls, nodeTypes, rootFields, unreachedFields } from './matrix/graphql-calls.ts';
import { graphqlCells, permissionOf, tryEnded, tryPermissions } from './matrix/graphql-matrix.ts';
import { restCells, restOperations, tryRestTokens } from './matrix/rest-matrix.ts';
import { tryStreams, tryWebhooks } from './matrix/streams.ts';
import { openMatrix } from './matrix/world.ts';

/**
 * The matrix of tenants and scopes. Its places are derived from the schema and the OpenAPI document: a new field,
 * argument or input field is tested automatically, or fails the test until the tables in test/attack/matrix state its
 * meaning.
 */

const world = await openMatrix();
afterAll(() => world.close());
const operations = await restOperations(world.counting.url);

const none = ({ lost }: Figures) => expect(lost.join('\n')).toBe('');
const figures = (): Figures => ({ tried: 0, lost: [] });

test('the matrix covers every field of the schema, with its permission', () => {
  expect(rootFields.filter((name) => !calls.some((call) => call.name === name))).toEqual([]);
  expect(unreachedFields()).toEqual([]);
  for (const call of calls) permissionOf(call);
  for (const { name } of nodeTypes()) kindOfNode(name);
});

/** Here, only one of these strangers tries each place. In the soak, all of them try every place. */
const sharing = ['another customer with every grant', 'another quote', 'another transaction'];

test.each(['another platform', 'another customer', ...sharing, 'another payment of the same customer'])(
  'over GraphQL, objects named by %s look as if they never existed',
  async (name) => {
    const stranger = world.strangers.find((one) => one.name === name);
    if (!stranger) throw new Error(`there is no stranger named ${name}`);
    const all = figures();
    const turn = sharing.indexOf(name);
    const cells = graphqlCells(world).filter((_cell, place) => turn < 0 || place % sharing.length === turn);
    await tryStranger(world, stranger, cells, all);
    none(all);
    expect(all.tried).toBeGreaterThan(turn < 0 ? 100 : 30);
  },
);

test('over GraphQL, a token with fewer rights learns nothing about the objects that it names', async () => {
  const all = figures();
  await tryPermissions(world, all);
  none(all);
});

test('over GraphQL, expired and revoked credentials are rejected in the same way everywhere, and read nothing', async () => {
  const all = figures();
  await tryEnded(world, all);
  none(all);
});

test("strangers' streams and webhooks reveal nothing about what happens in the meantime", async () => {
  const all = figures();
  await tryStreams(world, all);
  await tryWebhooks(world, all);
  none(all);
  expect(all.tried).toBeGreaterThan(20);
});

test('over REST, objects named by another platform look as if they never existed', async () => {
  const all = figures();
  await tryStranger(world, world.restStranger, restCells(world, operations), all);
  none(all);
});

test('over REST, app tokens, expired tokens and tokens with fewer rights get the same refusal, and read nothing', async () => {
  const all = figures();
  await tryRestTokens(world, operations, permissionsInDocs(), all);
  none(all);
});

/** The permissions in the table of docs/rest.md, by method and path. */
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
  const all = figures();
  // The owner deletes objects that no other test needs.
  await tryOwner({ ...world, victim: world.bystander }, restCells(world, operations), all);
  none(all);
});

test("over GraphQL, the owner's response differs from a stranger's at every place", async () => {
  const all = figures();
  await tryOwner(world, graphqlCells(world), all);
  none(all);
});
