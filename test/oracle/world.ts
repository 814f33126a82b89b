import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { Pool } from 'undici';
import { publicId } from '../../src/core/ids.ts';
import { unlimited } from '../attack/limits.ts';
import { type Answer, connect, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { patient } from '../setup/held-transfer.ts';
import { Statements } from '../setup/statements.ts';
import { type Material, readMaterial } from './material.ts';
import { type Caller, makeQuietScene, type QuietScene } from './scene.ts';

/** An answer as received: the text is compared first, since it is nearly always unchanged. */
export interface RawAnswer {
  readonly text: string;
  readonly json: () => Answer;
}

export interface Operation {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The quiet scene, a gateway that serves it, and the oracle: a gateway that reads it with the stock libraries. */
export class OracleWorld {
  readonly callers: readonly Caller[];
  /** The committed schema. */
  readonly schema: GraphQLSchema = buildSchema(readFileSync('schema.graphql', 'utf8'));
  /** The material of each platform. */
  readonly material: readonly [Material, Material];
  /** The statements of the gateway that serves the scene. */
  readonly statements: Statements;
  readonly gateway: TestGateway;
  /** A gateway on the same rows that reads with graphql-js and Prisma alone. */
  readonly stock: TestGateway;
  readonly #scene: QuietScene;
  readonly #http: Pool;
  readonly #stockHttp: Pool;

  private constructor(
    scene: QuietScene,
    [gateway, stock]: readonly [TestGateway, TestGateway],
    material: [Material, Material],
  ) {
    this.#scene = scene;
    this.#http = new Pool(gateway.url, { connections: 3 });
    this.#stockHttp = new Pool(stock.url, { connections: 3 });
    this.gateway = gateway;
    this.stock = stock;
    this.callers = scene.callers;
    this.material = material;
    this.statements = new Statements(gateway.gateway.serving.pool);
  }

  static async open(): Promise<OracleWorld> {
    const scene = await makeQuietScene();
    // This gateway only serves, so nothing changes.
    const gateway = await startTestGateway({ ROLE: 'serve', ...unlimited }, scene.databaseUrl, { pace: patient });
    const stock = await startTestGateway({ ROLE: 'serve', STOCK_READS: true, ...unlimited }, scene.databaseUrl, {
      pace: patient,
    });
    const reader = async (platform: number) => {
      const caller = scene.callers.find((one) => one.platform === platform);
      const { platformId = '', authorization = '' } = caller ?? {};
      const { rows: lookups } = await gateway.owner.query<{ id: string }>(
        'select id from lookup where platform_id = $1 order by id',
        [platformId],
      );
      const ids = lookups.map(({ id }) => publicId('Lookup', id));
      return readMaterial(connect(gateway.url, platformId, authorization), scene.keys, ids);
    };
    const material: [Material, Material] = [await reader(0), await reader(1)];
    return new OracleWorld(scene, [gateway, stock], material);
  }

  /** Queries the service over HTTP; with `isStock`, the gateway with the stock libraries. */
  async ask(
    { query, variables, operationName }: Operation,
    { authorization }: Caller,
    isStock = false,
  ): Promise<RawAnswer> {
    const { body } = await (isStock ? this.#stockHttp : this.#http).request({
      method: 'POST',
      path: '/graphql',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: JSON.stringify({ query, variables, operationName }),
    });
    const text = await body.text();
    return { text, json: () => JSON.parse(text) };
  }

  async close(): Promise<void> {
    await this.#http.close();
    await this.#stockHttp.close();
    await this.gateway.stop();
    await this.stock.stop();
    await this.#scene.drop();
  }
}
