import { afterAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { App, Following } from '../../docs/examples/follow-transactions.ts';
import { followOverSse } from '../../docs/examples/over-sse.ts';
import { followOverWebSocket } from '../../docs/examples/over-websocket.ts';
import { type Data, startTestGateway, testGateway } from '../setup/gateway.ts';

/** Runs the recipes from the docs verbatim against an instance that restarts while they run. */

const steady = await testGateway();
let shaky = await startTestGateway({}, steady.databaseUrl);
afterAll(() => shaky.stop());
const scene = await steady.platform.makeScene();

const payment = async (): Promise<string> => (await steady.platform.pay(scene)).id;

/** Restarts the instance that the clients use, at the same address. */
async function restart(): Promise<void> {
  const port = Number(new URL(shaky.url).port);
  await shaky.stop();
  shaky = await startTestGateway({ PORT: port }, steady.databaseUrl);
}

interface Recorded {
  readonly app: App;
  readonly changes: { readonly id: string; readonly status: string }[];
  readonly snapshots: (readonly string[])[];
  stored: string | null;
  tokens: number;
}

function recorded(stored: string | null = null): Recorded {
  const record: Recorded = {
    stored,
    tokens: 0,
    changes: [],
    snapshots: [],
    app: {
      url: `${shaky.url}/graphql`,
      token: async () => {
        record.tokens += 1;
        return steady.platform.mint({ customerId: scene.customerId, expiresInSeconds: 2 });
      },
      store: {
        load: async () => record.stored,
        save: async (cursor) => {
          record.stored = cursor;
        },
      },
      onSnapshot: (transactions) => record.snapshots.push(transactions.map((transaction) => transaction.id)),
      onChange: ({ status, transaction }) => record.changes.push({ id: transaction.id, status }),
    },
  };
  return record;
}

test.each<[string, (app: App) => Following]>([
  ['graphql-ws', (app) => followOverWebSocket(app, WebSocket)],
  ['SSE', followOverSse],
])(
  'the recipe for %s sees every change once despite restarts, expiring tokens and a closed app',
  async (_name, start) => {
    const before = await payment();
    await steady.platform.ended(before);
    const first = recorded();
    let following = start(first.app);
    await vi.waitFor(() => expect(first.snapshots[0]).toContain(before), { timeout: 60_000 });

    const paid = [await payment()];
    const seen = (record: Recorded) =>
      record.changes.filter((change) => change.status === 'COMPLETED').map(({ id }) => id);
    await vi.waitFor(() => expect(seen(first)).toEqual(paid), { timeout: 60_000 });
    await restart();
    paid.push(await payment());
    await vi.waitFor(() => expect(seen(first)).toEqual(paid), { timeout: 60_000 });
    following.resumeNow();
    paid.push(await payment());
    // This wait outlasts a token's lifetime, so a newer token must be sent, or the stream dropped and resumed.
    const minted = first.tokens;
    await vi.waitFor(() => expect(first.tokens).toBeGreaterThan(minted + 1), { timeout: 60_000 });
    paid.push(await payment());
    await vi.waitFor(() => expect(seen(first)).toEqual(paid), { timeout: 60_000 });
    following.stop();

    paid.push(await payment());
    const second = recorded(first.stored);
    following = start(second.app);
    await vi.waitFor(() => expect(seen(second)).toEqual(paid.slice(-1)), { timeout: 60_000 });
    following.stop();
    expect(second.snapshots).toEqual([]);
    expect(first.snapshots.length).toBe(1);
    const all = [...first.changes, ...second.changes];
    expect(new Set(all.map((change: Data) => `${change.id} ${change.status}`)).size).toBe(all.length);
  },
);
