import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runOracle } from '../oracle/run.ts';
import { type OracleWorld, openWorld } from '../oracle/world.ts';
import { often } from '../setup/statements.ts';

let world: OracleWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

/** How many random documents to try. `ORACLE_SEED` repeats a run. */
const documents = Number(process.env.ORACLE_DOCUMENTS ?? 2_000);

test(`${documents} random documents, repeated by every caller, are answered as by standard execution`, async () => {
  const figures = await runOracle(world, documents);
  if (process.env.ORACLE_FIGURES) console.log(figures);
  expect(figures.withRows).toBeGreaterThan(figures.documents / 3);
  expect(figures.answersWithRows).toBeGreaterThan(figures.answers / 3);
  expect(figures.refused).toBeLessThan(figures.answers / 20);
}, 1_800_000);

describe('statements, whichever part of the gateway sends them', () => {
  const page = 'edges { cursor node { id } } pageInfo { hasNextPage }';
  test.each([
    ['a list', `{ transactions(first: 5) { ${page} } }`, 1],
    ['a list with its count', `{ transactions(first: 5) { ${page} totalCount } }`, 2],
    [
      'a list with what its rows refer to',
      '{ quotes { edges { node { id customer { name } transaction { status } } } } }',
      1,
    ],
    ['events', `{ events(first: 5) { ${page} } }`, 1],
    ['a node', (id: string) => `{ node(id: "${id}") { ... on Customer { name details { __typename } } } }`, 1],
    [
      'a nested list with its counts',
      `{ customers(first: 2) { edges { node { accounts(first: 2) { totalCount edges { node { id } } } } } } }`,
      2,
    ],
    ['the currencies', '{ currencies { code } }', 0],
  ])('%s takes a bounded number, however often it is repeated', async (_what, document, most) => {
    const [caller] = world.callers;
    if (!caller) throw new Error('there are callers');
    const id = world.material[0].ids.Customer?.[0] ?? '';
    const query = typeof document === 'string' ? document : document(id);
    for (let again = 0; again < often; again++) {
      const { result, statements } = await world.statements.during(() => world.ask({ query }, caller));
      expect(result.json().errors).toBeUndefined();
      expect(statements.length).toBeLessThanOrEqual(most);
    }
  });
});
