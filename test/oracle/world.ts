import { Pool } from 'undici';
import { publicId } from '../../src/core/ids.ts';
import { type Database, openDatabase } from '../../src/infra/database/database.ts';
import { unlimited } from '../attack/limits.ts';
import { type Answer, connect, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { Statements } from '../setup/statements.ts';
import { type Material, readMaterial } from './material.ts';
import { type Operation, PlainExecutor } from './plain-executor.ts';
import { PlainReads } from './reads.ts';
import { type Caller, makeQuietScene, type QuietScene } from './scene.ts';

/** An answer as it came: the text is compared first, since it is nearly always the same as before. */
export interface RawAnswer {
  readonly text: string;
  readonly json: () => Answer;
}

/** The quiet scene, a gateway that serves it, and the oracle that knows the answers. */
export class OracleWorld {
  readonly callers: readonly Caller[];
  readonly oracle: PlainExecutor;
  /** By platform. */
  readonly material: readonly [Material, Material];
  /** Statements of that gateway. */
  readonly statements: Statements;
  readonly gateway: TestGateway;
  /** A gateway on the same rows, where graphql-js and Prisma read alone. */
  readonly stock: TestGateway;
  readonly #scene: QuietScene;
  readonly #database: Database;
  readonly #http: Pool;
  readonly #stockHttp: Pool;

  private constructor(
    scene: QuietScene,
    [gateway, stock]: readonly [TestGateway, TestGateway],
    database: Database,
    material: [Material, Material],
  ) {
    this.#scene = scene;
    this.#database = database;
    this.#http = new Pool(gateway.url, { connections: 3 });
    this.#stockHttp = new Pool(stock.url, { connections: 3 });
    this.gateway = gateway;
    this.stock = stock;
    this.callers = scene.callers;
    this.material = material;
    this.statements = new Statements(gateway.gateway.serving.pool);
    const payments = { ...gateway.gateway.payments, database };
    this.oracle = new PlainExecutor(new PlainReads(database.prisma), payments);
  }

  static async open(): Promise<OracleWorld> {
    const scene = await makeQuietScene();
    // It serves and does nothing else, so nothing changes.
    const gateway = await startTestGateway({ ROLE: 'serve', ...unlimited }, scene.databaseUrl);
    const stock = await startTestGateway({ ROLE: 'serve', STOCK_READS: true, ...unlimited }, scene.databaseUrl);
    const database = openDatabase({ url: scene.databaseUrl, role: 'gateway_work', poolSize: 4 });
    const reader = async (platform: number) => {
      const caller = scene.callers.find((one) => one.platform === platform);
      const { platformId = '', authorization = '' } = { ...caller?.viewer, ...caller };
      const lookups = await database.prisma.lookup.findMany({ where: { platformId }, select: { id: true } });
      const ids = lookups.map(({ id }) => publicId('Lookup', id));
      return readMaterial(connect(gateway.url, platformId, authorization), scene.keys, ids);
    };
    const material: [Material, Material] = [await reader(0), await reader(1)];
    return new OracleWorld(scene, [gateway, stock], database, material);
  }

  /** Asks the service over HTTP; `isStock`: the gateway that reads the stock way. */
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
    await this.#database.close();
    await this.gateway.stop();
    await this.stock.stop();
    await this.#scene.drop();
  }
}
