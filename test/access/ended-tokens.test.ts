import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { mint, succeed } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { fund, makeScene, type Scene } from '../setup/scene.ts';
import { nextOf, openEventStream, openRawSocket } from '../setup/streams.ts';

// Nothing that a client token has opened outlives it: the database's clock decides when it has expired.

let t: TestGateway;
let scene: Scene;
beforeAll(async () => {
  t = await startTestGateway();
  scene = await makeScene(t.platform, 10_000n);
});
afterAll(() => t.stop());

const watch = 'subscription { accountUpdates { cursor } }';
const following = (count: number) =>
  vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(count), { timeout: 10_000 });

/** Opens a stream on a socket and one on a connection of its own. */
async function openStreams(authorization: string) {
  const raw = await openRawSocket(t.url, authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: watch } });
  const open = await openEventStream(`${t.url}/graphql`, authorization, { query: watch });
  return { raw, open };
}

const uuid = (id: string) => id.slice(id.indexOf(':') + 1);
const endings: Readonly<Record<string, (tokenId: string) => Promise<unknown>>> = {
  expired: (tokenId) =>
    t.owner.query('update client_token set expires_at = clock_timestamp() where id = $1', [uuid(tokenId)]),
  'been revoked': (tokenId) => succeed(t.platform, 'revokeClientToken', { tokenId }),
};

test.each(Object.keys(endings))(
  'streams of a client token end once it has %s, and those of a living one go on',
  async (how) => {
    const [ending, living] = (await Promise.all(
      [1, 2].map(() => mint(t.platform, { customerId: scene.customerId })),
    )) as [Data, Data];
    const gone = await openStreams(`Bearer ${ending.token}`);
    const kept = await openStreams(`Bearer ${living.token}`);
    await following(4);
    const told = nextOf(gone.open.events);
    await endings[how]?.(ending.tokenId);
    expect((await gone.raw.closed).code).toBe(4403);
    expect(await told).toMatchObject({
      event: 'next',
      data: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    });
    await expect(gone.open.events.next()).rejects.toThrow();
    await following(2);
    const heard = [kept.raw.receive('next'), nextOf(kept.open.events)];
    await fund(t.platform, scene.usd, 1n);
    for (const message of await Promise.all(heard)) expect(JSON.stringify(message)).toContain('cursor');
    kept.raw.socket.close();
    kept.open.cut();
    await following(0);
  },
);
