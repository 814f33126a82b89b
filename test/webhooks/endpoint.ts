import { setTimeout as delay } from 'node:timers/promises';
import type { Data, TestPlatform } from '../setup/gateway.ts';

const fields = 'id url eventTypes status description createdAt failingSince disabledAt notice';

/** Creates an endpoint. Returns the endpoint and its secret. */
export async function createEndpoint(platform: TestPlatform, input: object): Promise<{ id: string; secret: string }> {
  const result = await tryCreate(platform, input);
  if (!result.endpoint) throw new Error(JSON.stringify(result));
  return { id: result.endpoint.id, secret: result.secret };
}

/** Sends the request that creates an endpoint. Returns the result. */
export async function tryCreate(platform: TestPlatform, input: object): Promise<Data> {
  return platform.act('createWebhookEndpoint', input, `endpoint { ${fields} } secret`);
}

export async function updateEndpoint(platform: TestPlatform, input: object): Promise<Data> {
  return platform.act('updateWebhookEndpoint', input, `endpoint { ${fields} }`);
}

export async function replay(platform: TestPlatform, input: object): Promise<Data> {
  return platform.act('replayWebhookEvents', input, 'count');
}

/** Resends a delivery. Returns the delivery or the refusal. */
export async function resend(platform: TestPlatform, deliveryId: string, more: object = {}): Promise<Data> {
  const fields = 'delivery { id status event { id } attempts { responseStatus } }';
  return platform.act('resendWebhookDelivery', { deliveryId, ...more }, fields);
}

/** Reads an endpoint with its latest deliveries, oldest first. */
export async function readEndpoint(platform: TestPlatform, id: string): Promise<Data> {
  const { node } = await platform.ask(
    `query ($id: ID!) { node(id: $id) { ... on WebhookEndpoint { ${fields} deliveries(first: 100) { totalCount edges { node {
      id status nextAttemptAt event { id type cursor } attempts { at durationMs responseStatus error } } } } } } }`,
    { id },
  );
  return { ...node, deliveries: node.deliveries.edges.map((edge: Data) => edge.node).reverse() };
}

/** Returns whether all of an endpoint's deliveries have the given status. */
export const hasAll =
  (wanted: string) =>
  ({ deliveries }: Data): boolean =>
    deliveries.every(({ status }: Data) => status === wanted);

/** Returns whether an endpoint's first delivery has been attempted. */
export const isAttempted = ({ deliveries }: Data): boolean => deliveries[0]?.attempts.length > 0;

const lookAgainMs = 20;

/** Polls an endpoint until it is as expected, because its row is updated only after the receiver has the request. */
export async function endpointUntil(
  platform: TestPlatform,
  id: string,
  wanted: (endpoint: Data) => boolean,
): Promise<Data> {
  for (;;) {
    const endpoint = await readEndpoint(platform, id);
    if (wanted(endpoint)) return endpoint;
    await delay(lookAgainMs);
  }
}
