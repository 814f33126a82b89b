import { expect, test, vi } from 'vitest';
import { succeed } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { appOf } from '../setup/new-credentials.ts';
import { expireToken } from '../setup/passing-time.ts';
import { fund, makeScene } from '../setup/scene.ts';
import { nextOf, openEventStream, openRawSocket } from '../setup/streams.ts';

// Nothing that a client token has opened outlives it: the database's clock decides when it has expired.

const t = await testGateway();
const scene = await makeScene(t.platform, 10_000n);

const watch = 'subscription { accountUpdates { cursor } }';
const following = (count: number) =>
  vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(count), { timeout: 60_000 });

/** Opens a stream on a socket and one on its own connection. */
async function openStreams(authorization: string) {
  const raw = await openRawSocket(t.url, authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: watch } });
  const open = await openEventStream(`${t.url}/graphql`, authorization, { query: watch });
  return { raw, open };
}

const endings: Readonly<Record<string, (tokenId: string) => Promise<unknown>>> = {
  expired: (tokenId) => expireToken(t, tokenId),
  'been revoked': (tokenId) => succeed(t.platform, 'revokeClientToken', { tokenId }),
};

test.each(Object.keys(endings))(
  'streams of a client token end once it has %s, and those of a valid one continue',
  async (how) => {
    const mine = { customerId: scene.customerId };
    const [ending, living] = [await appOf(t.platform, mine), await appOf(t.platform, mine)];
    const [gone, kept] = [await openStreams(ending.authorization), await openStreams(living.authorization)];
    await following(4);
    const told = nextOf(gone.open.events);
    await endings[how]?.(ending.tokenId);
    expect((await gone.raw.closed).code).toBe(4403);
    const data = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] };
    expect(await told).toMatchObject({ event: 'next', data });
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
