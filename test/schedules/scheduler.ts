import pg from 'pg';
import { actorLock, actorOf, stopNotice } from './scheduled-database.ts';

/**
 * Runs actors one step at a time, in the order of a schedule. An actor is a function that runs the product's own code
 * on its own connection. It stops before each statement is sent and at points inside the database functions (see
 * scheduled-database.ts). Between two steps, every actor has stopped or ended, or is waiting for another actor's lock.
 */

/** The work of one actor. A refusal is also a result, which the race checks. */
export interface Actor {
  readonly name: string;
  /** From 1. */
  readonly number: number;
  readonly act: () => Promise<unknown>;
}

export interface Played {
  /** The steps in order, each with the actor's name and the point at which it had stopped. */
  readonly steps: readonly string[];
  /** For each step: how many actors could have run, and which of them ran. */
  readonly choices: readonly { readonly of: number; readonly taken: number }[];
  readonly results: ReadonlyMap<string, unknown>;
}

/** Chooses one of the runnable actors. Not called if only one can run, unless `decidesAlways` is true. */
export type Choose = (decision: number, ready: readonly string[]) => number;

interface Player {
  readonly actor: Actor;
  /** Statements that have not been sent yet. */
  readonly held: { readonly name: string; send(): void }[];
  /** The point inside a function at which the actor has stopped. */
  stop: { readonly number: number; readonly point: string } | undefined;
  inFlight: number;
  pid: number | undefined;
  ended: boolean;
}

/** How long an actor may take between two stops. A busy machine may stall an actor for seconds. */
const stepMs = 120_000;
/** How long the scheduler waits for an actor before it checks whether the actor is waiting for a lock. */
const lookMs = 2;

export class Scheduler {
  /** The connection that holds and releases the locks at which actors stop. */
  readonly #control: pg.Client;
  readonly #players = new Map<number, Player>();
  #changes = 0;
  #onChange: (() => void) | undefined;
  readonly #restore: () => void;

  private constructor(control: pg.Client) {
    this.#control = control;
    this.#restore = interceptQueries((client, send, name) => this.#intercept(client, send, name));
  }

  static async open(url: string, actors: number): Promise<Scheduler> {
    const control = new pg.Client({ connectionString: url, application_name: 'scheduler' });
    await control.connect();
    for (let actor = 1; actor <= actors; actor += 1)
      await control.query(`select pg_advisory_lock(${actorLock(actor, 1)})`);
    return new Scheduler(control);
  }

  async close(): Promise<void> {
    this.#restore();
    await this.#control.end();
  }

  /** @throws Error if actors are waiting for each other, or if one does not return */
  async play(actors: readonly Actor[], choose: Choose, decidesAlways = false): Promise<Played> {
    const steps: string[] = [];
    const choices: { of: number; taken: number }[] = [];
    const results = new Map<string, unknown>();
    this.#players.clear();
    for (const actor of actors) this.#start(actor, results);
    for (;;) {
      await this.#settle(steps);
      const players = [...this.#players.values()];
      const ready = players.filter(isReady);
      const [only] = ready;
      if (!only) {
        if (players.every(({ ended, inFlight }) => ended && inFlight === 0)) {
          // From here on, the scheduler no longer stops the actors' connections.
          this.#players.clear();
          return { steps, choices, results };
        }
        throw new Error('no actor can run, and none is running');
      }
      let taken = 0;
      if (ready.length > 1 || decidesAlways) {
        const names = ready.map(({ actor }) => actor.name);
        taken = choose(choices.length, names);
        choices.push({ of: ready.length, taken });
      }
      const player = ready[taken] ?? only;
      steps.push(`${player.actor.name}: ${player.stop?.point ?? player.held[0]?.name}`);
      await this.#step(player);
    }
  }

  #start(actor: Actor, results: Map<string, unknown>): void {
    const player: Player = { actor, held: [], stop: undefined, inFlight: 0, pid: undefined, ended: false };
    this.#players.set(actor.number, player);
    const end = (result: unknown) => {
      results.set(actor.name, result);
      player.ended = true;
      this.#changed();
    };
    actor.act().then(end, end);
  }

  async #step(player: Player): Promise<void> {
    const { stop, actor } = player;
    if (!stop) {
      player.held.shift()?.send();
      return;
    }
    player.stop = undefined;
    // The lock of the previous stop is free now. The actor's next stop will wait for the lock taken here.
    await this.#control.query(
      `select pg_advisory_lock(${actorLock(actor.number, stop.number + 1)}), pg_advisory_unlock(${actorLock(actor.number, stop.number)})`,
    );
  }

  /**
   * Waits until each actor has stopped or ended, or is waiting for a lock that a stopped actor holds. If all are
   * waiting, a lock is about to be granted, or the database will resolve a deadlock. @throws Error if neither happens
   */
  async #settle(steps: readonly string[]): Promise<void> {
    const deadline = performance.now() + stepMs;
    for (;;) {
      const running = [...this.#players.values()].filter((player) => !isReady(player) && !isOver(player));
      if (running.length === 0) return;
      if (performance.now() > deadline) {
        const names = running.map(({ actor }) => actor.name).join(', ');
        const ready = [...this.#players.values()].some(isReady);
        const what = ready ? 'did not return' : 'wait for each other';
        throw new Error(`${names} ${what} after: ${steps.join(', ')}`);
      }
      const before = this.#changes;
      if (await this.#change(running.every(({ inFlight }) => inFlight > 0) ? lookMs : 100)) continue;
      if (running.some(({ inFlight }) => inFlight === 0)) continue;
      const waiting = await this.#waiting();
      const allWait = running.every(({ pid }) => pid !== undefined && waiting.has(pid));
      if (this.#changes === before && allWait && [...this.#players.values()].some(isReady)) return;
    }
  }

  async #change(ms: number): Promise<boolean> {
    const before = this.#changes;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#onChange = resolve;
    await promise;
    clearTimeout(timer);
    this.#onChange = undefined;
    return this.#changes !== before;
  }

  #changed(): void {
    this.#changes += 1;
    this.#onChange?.();
  }

  /** Returns the connections that are waiting for a lock, other than a lock at which an actor stops. */
  async #waiting(): Promise<ReadonlySet<number>> {
    const { rows } = await this.#control.query<{ pid: number }>(
      `select pid from pg_locks where not granted and not (locktype = 'advisory' and objsubid = 2)`,
    );
    return new Set(rows.map(({ pid }) => pid));
  }

  /** Holds an actor's statement until it may be sent. Returns false if the connection does not belong to an actor. */
  #intercept(client: pg.Client, send: (answered: () => void) => void, name: string): boolean {
    const number = actorOf(client);
    const player = number === undefined ? undefined : this.#players.get(number);
    if (!player || number === undefined) return false;
    if (client.listenerCount('notice') === 0) client.on('notice', ({ message }) => this.#stopped(number, message));
    const answered = () => {
      player.inFlight -= 1;
      this.#changed();
    };
    player.held.push({
      name,
      send: () => {
        player.inFlight += 1;
        player.pid = (client as pg.Client & { processID: number }).processID;
        send(answered);
      },
    });
    this.#changed();
    return true;
  }

  #stopped(actor: number, message: string | undefined): void {
    const [, number, point] = stopNotice.exec(message ?? '') ?? [];
    const player = this.#players.get(actor);
    if (!player || number === undefined || point === undefined) return;
    player.stop = { number: Number(number), point };
    this.#changed();
  }
}

const isReady = ({ stop, held, inFlight }: Player) => stop !== undefined || (held.length > 0 && inFlight === 0);
const isOver = ({ ended, inFlight, held }: Player) => ended && inFlight === 0 && held.length === 0;

type Intercept = (client: pg.Client, send: (answered: () => void) => void, name: string) => boolean;
type Query = (this: pg.Client, ...parameters: unknown[]) => unknown;

/** Calls `intercept` before each statement on any connection of this process. Returns a function that undoes this. */
function interceptQueries(intercept: Intercept): () => void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function query(...parameters) {
    const [text, ...rest] = parameters;
    const callback = rest.findLast((each) => typeof each === 'function') as
      | ((...results: unknown[]) => void)
      | undefined;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const send = (answered: () => void) => {
      if (callback) {
        const done = (...results: unknown[]) => {
          callback(...results);
          answered();
        };
        original.call(this, text, ...rest.map((each) => (each === callback ? done : each)));
        return;
      }
      // The actor continues first, so that it has reached its next statement when the scheduler gets the result.
      const settle = (then: (value: unknown) => void) => (value: unknown) => {
        then(value);
        setImmediate(answered);
      };
      Promise.resolve(original.call(this, ...parameters)).then(settle(resolve), settle(reject));
    };
    if (!intercept(this, send, nameOf(text))) return original.call(this, ...parameters);
    return callback ? undefined : promise;
  };
  return () => {
    prototype.query = original;
  };
}

function nameOf(query: unknown): string {
  if (typeof query === 'string') return query.slice(0, 40);
  const { name, text } = query as { readonly name?: string; readonly text?: string };
  return name || (text ?? '').slice(0, 40);
}
