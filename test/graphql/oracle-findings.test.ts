import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

/** What the oracle (oracle.test.ts) has found, each as the smallest document that shows it. */

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
});
afterAll(() => t.stop());

test.each(['totalCount', 'pageInfo { hasNextPage }', 'edges { cursor }'])(
  'the deliveries of an endpoint may be asked for without a field of their rows: %s',
  async (asked) => {
    await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['TEST'] });
    const { webhookEndpoints } = await t.platform.ask(
      `{ webhookEndpoints(first: 1) { edges { node { deliveries(first: 1) { ${asked} } } } } }`,
    );
    expect(webhookEndpoints.edges).toHaveLength(1);
  },
);
