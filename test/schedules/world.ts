import pg from 'pg';
import type { Caller } from '../../src/domain/access/caller.ts';
import type { Payments } from '../../src/domain/commands/command.ts';
import { Sequencer } from '../../src/domain/events/sequencer.ts';
import { expireQuotes } from '../../src/domain/quotes/expiry.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import { connectionConfig, type Database, openDatabase } from '../../src/infra/database/database.ts';
import type { Rail, RailOutcome } from '../../src/rails/rail.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { connectionOf, connectOwner, prepareDatabase } from './scheduled-database.ts';
import { Scheduler } from './scheduler.ts';

const maxActors = 4;

export class World {
  readonly scheduler: Scheduler;
  readonly scene: Scene;
  readonly caller: Caller;
  /** A connection that uses the actors' clock, but is never stopped. */
  readonly client: pg.Client;
  readonly #gateway: TestGateway;
  readonly #databases: readonly Database[];
  readonly #sequencers = new Map<number, Sequencer>();
  readonly #clocks = new Map<number, pg.Client>();
  readonly #rail: Rail;
  /** The orders that the rail has performed. An order that was performed twice is listed twice. */
  readonly performed: string[] = [];
  /** The errors logged by background work. A refusal that a race explains is not one of them. */
  readonly errors: unknown[] = [];
  /** The result of the last schedule of the modeled race, to compare with the model. */
  lastStatus = '';
  lastOutcomes: readonly string[] = [];

  private constructor(gateway: TestGateway, scheduler: Scheduler, client: pg.Client, scene: Scene) {
    this.#gateway = gateway;
    this.scheduler = scheduler;
    this.client = client;
    this.scene = scene;
    this.#databases = Array.from({ length: maxActors + 1 }, (_, actor) =>
      openDatabase({ ...connectionOf(gateway.databaseUrl, actor), poolSize: 1 }),
    );
    this.caller = {
      kind: 'PLATFORM',
      platformId: gateway.platform.platformId,
      environment: 'SANDBOX',
      permissions: ['VIEW', 'TRANSACT', 'MANAGE'],
      grants: [],
      tokenId: null,
      makers: [],
      bound: { kind: 'PLATFORM' },
    };
    const { SANDBOX: sandbox } = gateway.gateway.payments.rails;
    if (!sandbox) throw new Error('the sandbox has its rail');
    // The rail answers immediately, so that only the schedule decides who comes first.
    const perform = async ({ id }: { readonly id: string }): Promise<RailOutcome> => {
      this.performed.push(id);
      return { kind: 'settled' };
    };
    this.#rail = { ...sandbox, firstAskMs: () => 0, payOut: perform, collect: perform };
  }

  static async open(): Promise<World> {
    const gateway = await startTestGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 });
    const scene = await makeScene(gateway.platform, 100_000_000_000n);
    const client = await connectOwner(gateway.databaseUrl);
    await prepareDatabase(client, maxActors);
    return new World(gateway, await Scheduler.open(gateway.databaseUrl, maxActors), client, scene);
  }

  async close(): Promise<void> {
    await this.scheduler.close();
    for (const sequencer of this.#sequencers.values()) await sequencer.close();
    for (const clock of this.#clocks.values()) await clock.end();
    for (const database of this.#databases) await database.close();
    await this.client.end();
    await this.#gateway.stop();
  }

  /** The test run's server is removed later, together with the broken world. */
  async abandon(): Promise<void> {
    await this.scheduler.close();
    await this.client.end();
  }

  /** Changes a function of this database, as a bug would. @throws Error unless it has the text exactly once */
  async plant(signature: string, find: string, put: string): Promise<void> {
    const { rows } = await this.client.query<{ text: string }>('select pg_get_functiondef($1::regprocedure) as text', [
      `public.${signature}`,
    ]);
    const parts = rows[0]?.text.split(find) ?? [];
    if (parts.length !== 2) throw new Error(`${signature} does not have the text once: ${find}`);
    await this.client.query(parts.join(put));
  }

  get databaseUrl(): string {
    return this.#gateway.databaseUrl;
  }

  /** Returns the services that an actor uses; with 0, the services that prepare and end a schedule. */
  payments(actor: number): Payments {
    const database = this.#databases[actor];
    if (!database) throw new Error(`there is no actor ${actor}`);
    const { payments } = this.#gateway.gateway;
    const log: typeof payments.log = Object.assign(Object.create(payments.log), {
      error: (facts: { readonly err?: unknown }) => facts.err !== undefined && this.errors.push(facts.err),
    });
    return { ...payments, log, database, rails: { SANDBOX: this.#rail } };
  }

  sequencer(actor: number): Sequencer {
    const known = this.#sequencers.get(actor) ?? new Sequencer(this.payments(actor).database);
    this.#sequencers.set(actor, known);
    return known;
  }

  async pass(actor: number, seconds: number): Promise<void> {
    let clock = this.#clocks.get(actor);
    if (!clock) {
      clock = new pg.Client(connectionConfig(connectionOf(this.databaseUrl, actor)));
      this.#clocks.set(actor, clock);
      await clock.connect();
    }
    const text = `update schedules.clock set ahead = ahead + interval '${seconds} seconds'`;
    await clock.query({ name: `${seconds} s pass`, text });
  }

  async settleAll(): Promise<void> {
    while ((await settleDueOrders(this.payments(0), 100)) > 0);
  }

  async expireAll(): Promise<void> {
    while ((await expireQuotes(this.payments(0), 100)).done > 0);
  }
}
