import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { Pool } from 'undici';
import { publicId } from '../../src/core/ids.ts';
import { unlimited } from '../attack/limits.ts';
import { type Answer, connect, startTestGateway } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import { readMaterial } from './material.ts';
import { type Caller, makeQuietScene } from './scene.ts';

/** A response as received. `text` is compared first, because a repeated response is nearly always the same. */
export interface RawAnswer {
  readonly text: string;
  readonly json: () => Answer;
}

export interface Operation {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>>;
}

export type OracleWorld = Awaited<ReturnType<typeof openWorld>>;

/** Opens the quiet scene, a gateway that serves it, and the oracle: a gateway reading it with the stock libraries. */
export async function openWorld() {
  const scene = await makeQuietScene();
  // The gateways run no workers, so the data does not change.
  const start = (settings: object) =>
    startTestGateway({ ROLE: 'serve', ...unlimited, ...settings }, scene.databaseUrl, { pace: patient });
  const gateway = await start({});
  const stock = await start({ STOCK_READS: true });
  const http = new Pool(gateway.url, { connections: 3 });
  const stockHttp = new Pool(stock.url, { connections: 3 });
  const read = async (platform: number) => {
    const caller = scene.callers.find((one) => one.platform === platform);
    const { platformId = '', authorization = '' } = caller ?? {};
    const { rows: lookups } = await gateway.owner.query<{ id: string }>(
      'select id from lookup where platform_id = $1 order by id',
      [platformId],
    );
    const ids = lookups.map(({ id }) => publicId('Lookup', id));
    return readMaterial(connect(gateway.url, platformId, authorization), scene.keys, ids);
  };
  return {
    gateway,
    callers: scene.callers,
    /** The committed schema. */
    schema: buildSchema(readFileSync('schema.graphql', 'utf8')),
    /** By platform. */
    material: [await read(0), await read(1)] as const,
    /** Queries the gateway over HTTP, or, with `isStock`, the oracle. */
    async ask(
      { query, variables, operationName }: Operation,
      { authorization }: Caller,
      isStock = false,
    ): Promise<RawAnswer> {
      const { body } = await (isStock ? stockHttp : http).request({
        method: 'POST',
        path: '/graphql',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/graphql-response+json' },
        body: JSON.stringify({ query, variables, operationName }),
      });
      const text = await body.text();
      return { text, json: () => JSON.parse(text) };
    },
    async close(): Promise<void> {
      await http.close();
      await stockHttp.close();
      await gateway.stop();
      await stock.stop();
      await scene.drop();
    },
  };
}
