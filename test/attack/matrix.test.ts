import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { type Figures, kindOfNode } from './matrix/cells.ts';
import { calls, nodeTypes, rootFields, unreachedFields } from './matrix/graphql-calls.ts';
import { permissionOf, tryEnded, tryOwner, tryPermissions, tryStranger } from './matrix/graphql-matrix.ts';
import { restOperations, tryRestOwner, tryRestStranger, tryRestTokens } from './matrix/rest-matrix.ts';
import { tryStreams, tryWebhooks } from './matrix/streams.ts';
import { openMatrix } from './matrix/world.ts';

/**
 * The matrix of tenants and scopes. Its places are those of the schema and of the OpenAPI document: a new field, argument or
 * input field is tried automatically, or fails until the tables in test/attack/matrix know its meaning.
 */

const world = await openMatrix();
afterAll(() => world.close());

const none = ({ lost }: Figures) => expect(lost.join('\n')).toBe('');
const figures = (): Figures => ({ tried: 0, lost: [] });

test('every field of the schema is among those that the matrix calls, with its permission', () => {
  expect(rootFields.filter((name) => !calls.some((call) => call.name === name))).toEqual([]);
  expect(unreachedFields()).toEqual([]);
  for (const call of calls) permissionOf(call);
  for (const { name } of nodeTypes()) kindOfNode(name);
});

/** Those who share the places among them here: each place is tried by one of them. The soak tries all of them everywhere. */
const sharing = ['another customer with every grant', 'another quote', 'another transaction'];

test.each(['another platform', 'another customer', ...sharing, 'another payment of the same customer'])(
  'over GraphQL, what is named by %s is as unknown as what never was',
  async (name) => {
    const stranger = world.strangers.find((one) => one.name === name);
    if (!stranger) throw new Error(`nobody is ${name}`);
    const all = figures();
    const turn = sharing.indexOf(name);
    await tryStranger(world, stranger, ['JSON'], all, (place) => turn < 0 || place % sharing.length === turn);
    none(all);
    expect(all.tried).toBeGreaterThan(turn < 0 ? 100 : 30);
  },
);

test('over GraphQL, a token that may do less learns nothing of what it names', async () => {
  const all = figures();
  await tryPermissions(world, all);
  none(all);
});

test('over GraphQL, credentials that have ended are refused alike everywhere, and read nothing', async () => {
  const all = figures();
  await tryEnded(world, all);
  none(all);
});

test('streams of others are silent about what happens meanwhile, and so are their webhooks', async () => {
  const all = figures();
  await tryStreams(world, all);
  await tryWebhooks(world, all);
  none(all);
  expect(all.tried).toBeGreaterThan(20);
});

test('over REST, what is named by another platform is as unknown as what never was', async () => {
  const all = figures();
  await tryRestStranger(world, await restOperations(world.counting.url), all);
  none(all);
});

test('over REST, tokens that may do less, have ended or are for apps are refused alike, and read nothing', async () => {
  const all = figures();
  await tryRestTokens(world, await restOperations(world.counting.url), permissionsInDocs(), all);
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

test('over REST, the owner is answered differently at every place', async () => {
  const all = figures();
  // The owner ends objects that no other test needs.
  await tryRestOwner({ ...world, victim: world.bystander }, await restOperations(world.counting.url), all);
  none(all);
});

test('over GraphQL, the owner is answered differently at every place', async () => {
  const all = figures();
  await tryOwner(world, all);
  none(all);
});
