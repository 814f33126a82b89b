import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DirectoryFile } from '../clusters/directory.ts';
import type { OperatorAnswer } from '../instruments/operator-server.ts';
import { type Instances, instanceStates } from './instances.ts';
import { type OpenStreams, streamKinds } from './open-streams.ts';

/** What became of a request: it was answered by an instance; refused by the front, since its cluster is away or its platform paused; its answer was lost; or its client left. */
export type Passed = 'answered' | 'away' | 'paused' | 'lost' | 'gone';

/** What became of a socket: an instance has it; or it was refused, by the front for one of two reasons or by the instance. */
const socketOutcomes = ['joined', 'away', 'paused', 'refused'] as const;
export type SocketOutcome = (typeof socketOutcomes)[number];

/** The parts of a front that its metrics describe. */
export interface Observed {
  readonly directory: DirectoryFile;
  readonly instances: Instances;
  readonly streams: OpenStreams;
  /** How many sockets have sent no credentials yet. */
  readonly waitingSockets: () => number;
}

/** The metrics of a front. Labels are names of clusters in the directory, and words and codes of which there are few. */
export class FrontMetrics {
  readonly #registry = new Registry();
  readonly #requestSeconds: Histogram<'cluster' | 'code'>;
  readonly #inFlight: Gauge<'cluster'>;
  readonly #sockets: Counter<'cluster' | 'outcome'>;

  constructor(directory: DirectoryFile) {
    const registers = [this.#registry];
    this.#requestSeconds = new Histogram({
      name: 'payments_front_request_seconds',
      help: 'The time of requests until their answer began, by cluster and code: the HTTP status of the instance, or why the front answered itself (away, paused, lost), or gone for a client that left.',
      labelNames: ['cluster', 'code'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'payments_front_requests_in_flight',
      help: 'Requests whose answer has not begun.',
      labelNames: ['cluster'],
      registers,
    });
    this.#sockets = new Counter({
      name: 'payments_front_sockets_total',
      help: 'WebSockets that have sent their credentials, by cluster and outcome: joined, refused (by the instance), away, paused.',
      labelNames: ['cluster', 'outcome'],
      registers,
    });
    // From the start, so that the first one is a rise.
    for (const cluster of directory.current.clusters.keys()) {
      for (const code of ['away', 'lost']) this.#requestSeconds.zero({ cluster, code });
      for (const outcome of socketOutcomes) this.#sockets.inc({ cluster, outcome }, 0);
    }
  }

  /**
   * Notes that a request has come.
   * @returns the function to call when its answer has begun
   */
  begin(cluster: string): (passed: Passed, status: number) => void {
    const end = this.#requestSeconds.startTimer({ cluster });
    this.#inFlight.inc({ cluster });
    return (passed, status) => {
      this.#inFlight.dec({ cluster });
      end({ code: passed === 'answered' ? String(status) : passed });
    };
  }

  /** Counts a socket that has sent its credentials. */
  socket(cluster: string, outcome: SocketOutcome): void {
    this.#sockets.inc({ cluster, outcome });
  }

  /** Returns the function that answers a scrape. Figures of the process come with it. */
  scrape({ directory, instances, streams, waitingSockets }: Observed): () => Promise<OperatorAnswer> {
    collectDefaultMetrics({ register: this.#registry });
    const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge({ name: `payments_front_${name}`, help, labelNames, registers: [this.#registry] });
    const states = gauge('instances', 'Instances of a cluster, by state: READY, UNREADY, AWAY.', ['cluster', 'state']);
    const open = gauge('streams', 'Open sockets and event streams, by cluster.', ['cluster', 'kind']);
    const waiting = gauge('sockets_waiting', 'Sockets that have sent no credentials yet.');
    const faulty = gauge('directory_faulty', 'Whether the file of the directory cannot be used: 1, or 0.');
    return async () => {
      states.reset();
      open.reset();
      for (const cluster of directory.current.clusters.keys()) {
        const counts = instances.countsOf(cluster);
        for (const state of instanceStates) states.set({ cluster, state }, counts[state]);
        for (const kind of streamKinds) open.set({ cluster, kind }, streams.countOf(cluster, kind));
      }
      waiting.set(waitingSockets());
      faulty.set(directory.isFaulty ? 1 : 0);
      return { type: this.#registry.contentType, body: await this.#registry.metrics() };
    };
  }
}
