import pg from 'pg';
import type { Caller } from '../../src/domain/access/caller.ts';
import type { Payments } from '../../src/domain/commands/command.ts';
import { Sequencer } from '../../src/domain/events/sequencer.ts';
import { expireQuotes } from '../../src/domain/quotes/execute-quote.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import { connectionConfig, openDatabase } from '../../src/infra/database/database.ts';
import type { RailOutcome } from '../../src/rails/rail.ts';
import { startTestGateway, withRail } from '../setup/gateway.ts';
import { connectionOf, connectOwner, prepareDatabase } from './scheduled-database.ts';
import { Scheduler } from './scheduler.ts';

const maxActors = 4;

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Opens a gateway and a database to run schedules on, with a connection for each actor. */
export async function openWorld() {
  const gateway = await startTestGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 });
  const { databaseUrl } = gateway;
  const scene = await gateway.platform.makeScene(100_000_000_000n);
  const client = await connectOwner(databaseUrl);
  await prepareDatabase(client, maxActors);
  const scheduler = await Scheduler.open(databaseUrl, maxActors);
  const databases = Array.from({ length: maxActors + 1 }, (_, actor) =>
    openDatabase({ ...connectionOf(databaseUrl, actor), poolSize: 1 }),
  );
  const sequencers = new Map<number, Sequencer>();
  const clocks = new Map<number, pg.Client>();
  const performed: string[] = [];
  const errors: unknown[] = [];
  const caller: Caller = {
    kind: 'PLATFORM',
    platformId: gateway.platform.platformId,
    environment: 'SANDBOX',
    permissions: ['VIEW', 'TRANSACT', 'MANAGE'],
    grants: [],
    tokenId: null,
    makers: [],
    bound: { kind: 'PLATFORM' },
  };
  // The rail answers immediately, so that the schedule alone decides which actor comes first.
  const perform = async ({ id }: { readonly id: string }): Promise<RailOutcome> => {
    performed.push(id);
    return { kind: 'settled' };
  };
  const quick = withRail(gateway, { firstAskMs: () => 0, payOut: perform, collect: perform });
  const log: Payments['log'] = Object.assign(Object.create(quick.log), {
    error: (facts: { readonly err?: unknown }) => facts.err !== undefined && errors.push(facts.err),
  });

  /** Returns the services that an actor uses. Actor 0 prepares and ends schedules. */
  function payments(actor: number): Payments {
    const database = databases[actor];
    if (!database) throw new Error(`there is no actor ${actor}`);
    return { ...quick, log, database };
  }

  return {
    databaseUrl,
    scheduler,
    scene,
    caller,
    /** A connection that uses the actors' clock, but is never stopped. */
    client,
    payments,
    /** The orders that the rail has performed. An order that was performed twice is listed twice. */
    performed,
    /** The errors logged by background work. Refusals that are normal in a race are not included. */
    errors,
    /** The result of the last schedule of the modeled race, to compare with the model. */
    lastStatus: '',
    lastOutcomes: [] as readonly string[],

    async close(): Promise<void> {
      await scheduler.close();
      for (const sequencer of sequencers.values()) await sequencer.close();
      for (const clock of clocks.values()) await clock.end();
      for (const database of databases) await database.close();
      await client.end();
      await gateway.stop();
    },

    sequencer(actor: number): Sequencer {
      const known = sequencers.get(actor) ?? new Sequencer(payments(actor).database);
      sequencers.set(actor, known);
      return known;
    },

    async pass(actor: number, seconds: number): Promise<void> {
      let clock = clocks.get(actor);
      if (!clock) {
        clock = new pg.Client(connectionConfig(connectionOf(databaseUrl, actor)));
        clocks.set(actor, clock);
        await clock.connect();
      }
      const text = `update schedules.clock set ahead = ahead + interval '${seconds} seconds'`;
      await clock.query({ name: `${seconds} s pass`, text });
    },

    async settleAll(): Promise<void> {
      while ((await settleDueOrders(payments(0), 100)) > 0);
    },

    async expireAll(): Promise<void> {
      while ((await expireQuotes(payments(0), 100)).done > 0);
    },
  };
}
