import { describe, expect, test } from 'vitest';
import { unbatched } from '../../src/api/graphql/reading/stock.ts';
import { uuidOf } from '../../src/core/ids.ts';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

/**
 * Tests the reads that use only graphql-js, the Pothos plug-ins and Prisma. oracle.test.ts compares other reads with
 * them.
 */

const t = await testGateway({ SANDBOX_PACE_MS: 0 });
const stock = await testGateway({ ROLE: 'serve', STOCK_READS: true }, t.databaseUrl);

describe.each([
  ['as production reads', t.url],
  ['with standard execution', stock.url],
])('%s', (_how, url) => {
  test('a payment that has changed is shown as it was at each event, in streams and in lists', async () => {
    const after = await t.platform.feedEnd();
    const scene = await t.platform.makeScene(100_000n);
    const { transaction } = await t.platform.quote(usdToEur(scene, { immediatelyExecute: true }));
    await t.platform.ended(transaction.id);
    const platform = t.platform.at(url);
    const shown = '... on Transaction { id version status terminal reconciliationReference sentAmount { decimal } }';
    const variables = { after };

    const streamed = await platform.followed(
      `subscription ($after: String!) { transactionUpdates(after: $after) { status transaction { ${shown} customer { id } } } }`,
      variables,
      ({ status }) => status === 'COMPLETED',
    );
    const { events } = await platform.ask(
      `query ($after: String!) { events(after: $after, first: 100) { edges { node { type subject { ${shown} } } } } }`,
      variables,
    );
    const listed = events.edges.map(({ node }: Data) => node).filter(({ type }: Data) => type === 'OUTGOING_PAYMENT');

    expect(streamed.map((update) => update.transaction.version)).toEqual(streamed.map((_one, at) => at + 1));
    for (const { status, transaction: one } of streamed) {
      expect(one).toMatchObject({ status, terminal: status === 'COMPLETED', customer: { id: scene.customerId } });
    }
    expect(listed.map(({ subject }: Data) => subject)).toEqual(
      streamed.map(({ transaction: { customer: _customer, ...one } }) => one),
    );
  });

  test('errors in several list items are reported as one error, and none is left unhandled', async () => {
    await t.platform.makeScene();
    // The newest accounts come first. They are external, and their errors are found later than those of internal ones.
    const { errors = [] } = await t.platform.at(url).send(`{ accounts(first: 50) { nodes {
      ... on ExternalAccount { transactions(first: 1, after: "no cursor") { nodes { id } } }
      ... on InternalAccount { balance { formatted(locale: "no such locale") } }
    } } }`);
    expect(errors.map(({ path }) => path?.slice(0, 2))).toEqual([['accounts', 'nodes']]);
  });
});

test("the Prisma plug-in finds each platform's row, even when two platforms read in the same tick", async () => {
  const { prisma } = t.gateway.serving;
  const asked = await Promise.all(
    [t.platform, await t.newPlatform('other')].map(async (platform) => {
      const { customerId } = await platform.makeScene();
      return { platformId: platform.platformId, id: uuidOf(customerId, 'Customer') ?? '' };
    }),
  );
  const found = await Promise.all(
    asked.map(({ platformId, id }) => {
      const where = { platformId_id: { platformId, id }, AND: [{ platformId }] };
      return asPlatform(platformId, async () => unbatched(prisma).customer.findUnique({ where, select: { id: true } }));
    }),
  );
  expect(found).toEqual(asked.map(({ id }) => ({ id })));
});
