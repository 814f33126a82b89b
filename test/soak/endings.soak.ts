import { expect, test } from 'vitest';
import { execute, quote, usdToEur } from '../setup/acts.ts';
import { connect, type Data, startTestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { openEventStream, openRawSocket } from '../setup/streams.ts';

/** The long version of test/events/endings.test.ts. */

const payments = Number(process.env.SOAK_PAYMENTS ?? 300);
const query = `subscription ($id: ID!, $after: String, $until: StreamEnd!) {
  transactionUpdates(transactionId: $id, after: $after, until: $until) { cursor status terminal final } }`;
type Until = 'TERMINAL' | 'FINAL';

/** Reads a stream over a socket until its last message, cuts the socket there, and returns what came. */
async function readAndCut(url: string, authorization: string, id: string, until: Until): Promise<Data[]> {
  const raw = await openRawSocket(url, authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query, variables: { id, until } } });
  const seen: Data[] = [];
  while (!(until === 'FINAL' ? seen.at(-1)?.final : seen.at(-1)?.terminal))
    seen.push((await raw.receive('next')).payload.data.transactionUpdates);
  raw.socket.terminate();
  return seen;
}

/** Resumes a stream at a cursor, over a socket or an event stream, and returns what came before it completed. */
async function resume(platform: TestPlatform, url: string, variables: object, overSocket: boolean): Promise<Data[]> {
  const seen: Data[] = [];
  if (overSocket) {
    for await (const { data } of platform.watch(query, variables)) seen.push(data.transactionUpdates);
    return seen;
  }
  const open = await openEventStream(`${url}/graphql`, platform.authorization, { query, variables });
  for await (const { event, data } of open.events) {
    if (event === 'complete') return seen;
    seen.push(data.data.transactionUpdates);
  }
  throw new Error('the stream was cut');
}

test(`${payments} streams that are cut at their last message complete when they are resumed there, on any instance`, async () => {
  const one = await startTestGateway();
  const two = await startTestGateway({ ROLE: 'serve' }, one.databaseUrl);
  const { platformId, authorization } = one.platform;
  const platforms = [one.url, two.url].map((url) => ({ url, platform: connect(url, platformId, authorization) }));
  const at = (number: number) => platforms[number % 2] ?? { url: one.url, platform: one.platform };
  const scene = await makeScene(one.platform, 100_000_000n);
  let shown = 0;
  for (let first = 0; first < payments; first += 20) {
    const batch = Array.from({ length: Math.min(20, payments - first) }, async (_, place) => {
      const number = first + place;
      const scenarios = [{}, { failureReason: 'QUOTE_EXECUTION_FAILED' }, { reject: true }, { returnAfterMs: 20 }];
      const { id, transaction } = await quote(
        one.platform,
        usdToEur(scene, { sandboxScenario: scenarios[number % 4] }),
      );
      const until: Until = number % 3 === 0 ? 'FINAL' : 'TERMINAL';
      const reading = readAndCut(at(number).url, authorization, transaction.id, until);
      await execute(one.platform, id);
      const seen = await reading;
      shown += seen.length;
      const other = at(number + 1);
      const variables = { id: transaction.id, until, after: seen.at(-1).cursor };
      const rest = await resume(other.platform, other.url, variables, number % 5 < 3);
      // Only a return by the bank follows a terminal status.
      expect(rest.map(({ status }) => status)).toEqual(until === 'TERMINAL' && rest.length > 0 ? ['REFUNDED'] : []);
    });
    await Promise.all(batch);
  }
  console.log(`${payments} payments, ${shown} messages, each stream cut at its last one and completed`);
  await expect.poll(() => one.gateway.feed.subscriptions + two.gateway.feed.subscriptions).toBe(0);
  await two.stop();
  await one.stop();
}, 600_000);
