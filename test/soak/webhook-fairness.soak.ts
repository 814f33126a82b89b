import { expect, test } from 'vitest';
import { ownGateway, type TestGateway } from '../setup/gateway.ts';
import { createEndpoint, replay } from '../webhooks/endpoint.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

const events = 400;
const rounds = 7;

/** Replays all events to a receiver. Returns how many it receives per second. */
async function rate(t: TestGateway, receiver: Receiver, endpointId: string, after: string): Promise<number> {
  const before = receiver.received.length;
  const started = performance.now();
  const { count } = await replay(t.platform, { endpointId, events: { between: { after } } });
  await receiver.until((received) => received.length >= before + count);
  return (count * 1_000) / (performance.now() - started);
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test('hanging endpoints reduce another endpoint’s delivery rate by at most 5 %', { timeout: 600_000 }, async () => {
  const t = await ownGateway();
  const scene = await t.platform.makeScene(0n);
  const { cursor } = (await t.platform.ask('{ viewer { cursor: feedCursor } }')).viewer;
  const healthy = await startReceiver();
  const { id } = await createEndpoint(t.platform, { url: healthy.url, eventTypes: ['ACCOUNT_STATUS'] });
  for (let made = 0; made < events; made += 1) await t.platform.fund(scene.usd, 1n);
  await healthy.until((received) => received.length >= events + 1);
  await rate(t, healthy, id, cursor);

  const alone: number[] = [];
  for (let round = 0; round < rounds; round += 1) alone.push(await rate(t, healthy, id, cursor));
  const hanging = await Promise.all([1, 2, 3].map(() => startReceiver(() => undefined)));
  for (const { url } of hanging) {
    const endpoint = await createEndpoint(t.platform, { url, eventTypes: ['ACCOUNT_STATUS'] });
    await replay(t.platform, { endpointId: endpoint.id, events: { between: { after: cursor } } });
  }
  await Promise.all(hanging.map((one) => one.until((received) => received.length >= 8)));
  const beside: number[] = [];
  for (let round = 0; round < rounds; round += 1) beside.push(await rate(t, healthy, id, cursor));
  console.log({ alone: median(alone), beside: median(beside) });
  expect(median(beside)).toBeGreaterThan(0.95 * median(alone));
  await Promise.all([healthy, ...hanging].map((one) => one.stop()));
});
