import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Logger } from 'pino';
import type { DirectoryFile } from '../clusters/directory.ts';
import { instanceHeader } from '../clusters/names.ts';

/** READY: it says so. UNREADY: it answers, and says no: it may stop, or its database is away. AWAY: it does not answer. */
export const instanceStates = ['READY', 'UNREADY', 'AWAY'] as const;
type State = (typeof instanceStates)[number];

/** What is known of an instance. */
interface Known {
  readonly state: State;
  /** Its name in the tokens of its event streams. */
  readonly name: string | undefined;
  /** How often in a row it has not answered in time: one that has much to do is slow before it is away. */
  readonly late?: number;
}

/** How often each instance is asked, and how long it may take to answer and to accept a connection, in milliseconds. */
const times = { everyMs: 1_000, answerMs: 1_000, connectMs: 2_000 } as const;
/** After so many late answers in a row an instance is away. */
const maxLate = 5;

const order: readonly State[] = ['READY', 'UNREADY'];

/**
 * The instances of all clusters of a directory, and which of them can be asked now: each is asked for its readiness every second.
 */
export class Instances {
  readonly #directory: DirectoryFile;
  readonly #log: Logger;
  readonly #known = new Map<string, Known>();
  readonly #agents = { 'http:': new HttpAgent(kept), 'https:': new HttpsAgent(kept) } as const;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor(directory: DirectoryFile, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Asks each instance for the first time, and begins to ask it regularly. */
  async open(): Promise<void> {
    await this.#lookAtAll();
    this.#timer = setInterval(() => void this.#lookAtAll(), times.everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /**
   * Returns the instances of a cluster in the order in which they are to be tried: those that are ready, in turn, then those that
   * only answer. None where none answers.
   * @param name the instance to try first, by its name
   */
  of(cluster: string, name?: string): readonly string[] {
    const addresses = this.#directory.current.clusters.get(cluster) ?? [];
    this.#turn += 1;
    const start = this.#turn % Math.max(1, addresses.length);
    const turned = [...addresses.slice(start), ...addresses.slice(0, start)];
    const ranked = order.flatMap((state) => turned.filter((address) => this.#stateOf(address) === state));
    if (name === undefined) return ranked;
    const named = ranked.filter((address) => this.#known.get(address)?.name === name);
    return [...named, ...ranked.filter((address) => !named.includes(address))];
  }

  /** Counts the instances of a cluster by their states. */
  countsOf(cluster: string): Readonly<Record<State, number>> {
    const counts = { READY: 0, UNREADY: 0, AWAY: 0 };
    for (const address of this.#directory.current.clusters.get(cluster) ?? []) counts[this.#stateOf(address)] += 1;
    return counts;
  }

  /** Notes that no connection to an instance came about. */
  noteAway(address: string): void {
    this.#note(address, { state: 'AWAY', name: this.#known.get(address)?.name });
  }

  /** Makes a request to an instance. Its connection is given up after two seconds. */
  request(address: string, options: RequestOptions) {
    const { protocol, hostname, port } = new URL(address);
    const isTls = protocol === 'https:';
    const agent = this.#agents[isTls ? 'https:' : 'http:'];
    const make = isTls ? requestHttps : requestHttp;
    const made = make({ agent, host: hostname.replace(/^\[|\]$/g, ''), port, servername: hostname, ...options });
    const ready = isTls ? 'secureConnect' : 'connect';
    made.on('socket', (socket) => {
      if (!socket.connecting) return;
      const late = setTimeout(() => socket.destroy(new Error('no connection in time')), times.connectMs);
      socket.once(ready, () => clearTimeout(late)).once('close', () => clearTimeout(late));
    });
    return made;
  }

  /** An instance that nobody has asked yet may answer. */
  #stateOf(address: string): State {
    return this.#known.get(address)?.state ?? 'UNREADY';
  }

  async #lookAtAll(): Promise<void> {
    const addresses = [...this.#directory.current.clusters.values()].flat();
    for (const address of this.#known.keys()) if (!addresses.includes(address)) this.#known.delete(address);
    await Promise.all(addresses.map(async (address) => this.#note(address, await this.#ask(address))));
  }

  #note(address: string, known: Known): void {
    const before = this.#known.get(address)?.state;
    this.#known.set(address, known);
    if (before === known.state) return;
    this.#log[known.state === 'READY' ? 'info' : 'warn']({ instance: address, state: known.state }, 'an instance');
  }

  #ask(address: string): Promise<Known> {
    return new Promise((resolve) => {
      const before = this.#known.get(address);
      const away = (isLate: boolean) => {
        const late = (before?.late ?? 0) + 1;
        const state = isLate && late < maxLate ? (before?.state ?? 'UNREADY') : 'AWAY';
        resolve({ state, name: before?.name, late });
      };
      let isLate = false;
      const asked = this.request(address, { path: '/health/ready' });
      const late = setTimeout(() => {
        isLate = true;
        asked.destroy(new Error('no answer in time'));
      }, times.answerMs);
      asked
        .on('response', (answer: IncomingMessage) => {
          clearTimeout(late);
          answer.resume();
          const name = answer.headers[instanceHeader];
          const state = answer.statusCode === 200 ? 'READY' : 'UNREADY';
          resolve({ state, name: typeof name === 'string' ? name : undefined });
        })
        .on('error', () => {
          clearTimeout(late);
          away(isLate);
        })
        .end();
    });
  }
}

/** An idle connection is closed sooner than the instances close theirs. */
const kept = { keepAlive: true, keepAliveMsecs: 12_000, maxFreeSockets: 256, timeout: 50_000 } as const;
