import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

/** Differences that the oracle (oracle.test.ts) has found, each as the smallest document that shows it. */

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
});
afterAll(() => t.stop());

test.each(['totalCount', 'pageInfo { hasNextPage }', 'edges { cursor }'])(
  'the deliveries of an endpoint may be requested without a field of their rows: %s',
  async (asked) => {
    await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['TEST'] });
    const { webhookEndpoints } = await t.platform.ask(
      `{ webhookEndpoints(first: 1) { edges { node { deliveries(first: 1) { ${asked} } } } } }`,
    );
    expect(webhookEndpoints.edges).toHaveLength(1);
  },
);

test('a condition in a fragment is evaluated at each of its uses', async () => {
  const { id } = await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['TEST'] });
  const document = `query($on: Boolean!, $id: ID!) { accounts(first: 1) { edges { node { ...Row } } } node(id: $id) { id } }
    fragment Row on Account { currency @include(if: $on) { code } }`;
  const rows = async (on: boolean) =>
    (await t.platform.ask(document, { on, id })).accounts.edges.map((edge: { node: object }) => edge.node);
  expect(await rows(false)).toEqual([{}]);
  expect(await rows(true)).toEqual([{ currency: { code: expect.any(String) } }]);
  expect(await rows(false)).toEqual([{}]);
});
