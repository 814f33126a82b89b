import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { openRawSocket } from '../setup/streams.ts';

/** An operation that its client has completed does not count against the limit, however soon the next one starts. */
const t = await testGateway();
const stream = 'subscription { transactionUpdates { cursor } }';
const most = 20;

/** Waits until exactly this many subscriptions are open. Until then, none may be refused. */
async function subscribed(count: number, refused: () => readonly unknown[] = () => []): Promise<void> {
  while (t.gateway.feed.subscriptions !== count) {
    expect(refused()).toEqual([]);
    await t.gateway.feed.waitForChange(10);
  }
}

/** A client's next step. `which` is the id of the operation to start, or selects the operation to end. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('subscribe' as const), which: fc.nat(24) }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('complete' as const), which: fc.nat(24) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('ping', 'tick', 'query'), which: fc.nat(24) }) },
);
/** In the usual case, all operations are ended and restarted in the same tick, some of them under the same ids. */
const renewed = Array.from({ length: 100 }, (_, index) => ({
  does: index % 40 < 20 ? ('subscribe' as const) : ('complete' as const),
  which: (index % 20) + (index > 60 ? 5 : 0),
}));
const runs = { numRuns: 30, endOnFailure: true, examples: [[renewed]] satisfies [Data[]][] };

test('over a bare socket, with reused ids', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 300 }), async (steps) => {
    const { socket, send } = await openRawSocket(t.url, t.platform.authorization);
    const refusals: Data[] = [];
    const ended = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        const message: Data = JSON.parse(String(data));
        if (message.type === 'error') refusals.push(message);
        if (message.id === 'last' && message.type !== 'next') resolve();
      });
    });
    const open = new Set<string>();
    const begin = (id: string, query: string) => {
      if (open.has(id) || open.size >= most) return;
      send({ id, type: 'subscribe', payload: { query } });
      open.add(id);
    };
    const end = (id: string) => {
      if (open.delete(id)) send({ id, type: 'complete' });
    };
    for (const [index, { does, which }] of steps.entries()) {
      if (does === 'subscribe') begin(String(which), stream);
      else if (does === 'complete') end(String(which));
      else if (does === 'ping') send({ type: 'ping' });
      else if (does === 'tick') await tick();
      else {
        begin(`query ${index}`, '{ viewer { kind } }');
        end(`query ${index}`);
      }
    }
    end([...open][0] ?? '');
    begin('last', '{ viewer { kind } }');
    await ended;
    open.delete('last');
    await subscribed(open.size, () => refusals);
    for (const id of open) end(id);
    await subscribed(0, () => refusals);
    expect(refusals).toEqual([]);
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });
  await fc.assert(property, runs);
});
