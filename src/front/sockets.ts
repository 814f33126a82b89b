import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { type RawData, WebSocketServer } from 'ws';
import type { Place } from '../clusters/directory.ts';
import { type Claim, claimOfAuthorization } from '../clusters/names.ts';
import type { Passing } from './forward.ts';
import { closeFrame, ServerFrames } from './frames.ts';
import { forwardedFor, passedOn } from './headers.ts';
import type { SocketOutcome } from './metrics.ts';
import { Recorded } from './recorded.ts';

/** The limits of a socket until its first message: those of the service. `waiting`: how many may wait for theirs at once. */
const limits = { frameBytes: 64 * 1024, initMs: 3_000, waiting: 10_000 } as const;

const protocol = 'graphql-transport-ws';
/** How long a client may take to answer the close of its socket, in milliseconds. */
const closeMs = 1_000;
/** Try again later; and the service restarts. Clients connect again after either. */
const [tryAgain, restart] = [1013, 1012];

/** The parts of a front that sockets use. */
export interface SocketOptions extends Passing {
  readonly placeOf: (claim: Claim) => Place;
}

/**
 * Passes on WebSockets of GraphQL. Their credentials come in the first message, so the front accepts a socket, reads up to that
 * message, connects to an instance of the cluster, and sends it all that has come, byte for byte. From then on it only passes on
 * bytes, both ways, each way as fast as its receiver reads.
 */
export class Sockets {
  readonly #options: SocketOptions;
  // No extension is agreed upon before the instance is known.
  readonly #accepting = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
  });

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Accepts a socket. What is no upgrade that the service takes is passed on to any instance, which refuses it. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '/').split('?', 1);
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',')[0]?.trim();
    const isUsual = path === '/graphql' && offered === protocol && request.headers['sec-websocket-version'] === '13';
    if (this.waiting >= limits.waiting) endWith(socket, unavailable);
    else if (isUsual) this.#readFirst(request, socket, head);
    else void this.#connect({ request, socket, claim: {}, sent: head, isAccepted: false });
  }

  /** How many sockets have sent no credentials yet. */
  get waiting(): number {
    return this.#accepting.clients.size;
  }

  /** Closes the sockets that have sent no credentials yet. */
  close(): void {
    for (const client of this.#accepting.clients) client.close(restart, 'the service restarts');
  }

  #readFirst(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const recorded = new Recorded(socket, limits.frameBytes * 2);
    this.#accepting.handleUpgrade(request, recorded, Buffer.alloc(0), (client) => {
      const late = setTimeout(() => client.close(4408, 'Connection initialisation timeout'), limits.initMs);
      client.on('error', () => undefined).on('close', () => clearTimeout(late));
      client.on('message', (message) => {
        const claim = claimIn(message);
        if (claim === undefined) return;
        clearTimeout(late);
        client.removeAllListeners();
        this.#accepting.clients.delete(client);
        const sent = recorded.release();
        void this.#connect({ request, socket, claim, sent, isAccepted: true });
      });
      recorded.begin(head);
    });
  }

  /** Connects to an instance of the cluster, and joins both sides. */
  async #connect({ request, socket, claim, sent, isAccepted }: Waiting): Promise<void> {
    const { instances, metrics, placeOf } = this.#options;
    const place = placeOf(claim);
    const note = (outcome: SocketOutcome) => isAccepted && metrics.socket(place.cluster, outcome);
    const refuse = (outcome: SocketOutcome, code: number, reason: string) => {
      note(outcome);
      endWith(socket, isAccepted ? closeFrame(code, reason) : unavailable);
    };
    if (place.isPaused) return refuse('paused', tryAgain, 'this platform is being moved; try again');
    for (const address of instances.of(place.cluster)) {
      const answer = await this.#upgrade(address, request, socket);
      if (answer === undefined) {
        instances.noteAway(address);
        continue;
      }
      if (answer.kind === 'upgraded') {
        note('joined');
        return this.#join({ request, socket, claim, sent, isAccepted }, answer);
      }
      // Accepted already, so a close has to refuse it. 1008 is final to clients, as 403 is.
      if (isAccepted)
        return refuse('refused', answer.status === 503 ? tryAgain : 1008, `refused with ${answer.status}`);
      return endWith(socket, answer.head);
    }
    refuse('away', tryAgain, 'the service is away for this platform; try again');
  }

  #upgrade(address: string, request: IncomingMessage, socket: Duplex): Promise<Upgraded | Refused | undefined> {
    return new Promise((resolve) => {
      const headers = [
        ...passedOn(request, ['x-forwarded-for', 'sec-websocket-extensions']),
        ...forwardedFor(request),
        ...['connection', 'Upgrade', 'upgrade', request.headers.upgrade ?? 'websocket'],
      ];
      const asked = this.#options.instances.request(address, { method: 'GET', path: request.url, headers });
      const gone = () => asked.destroy();
      socket.once('close', gone);
      const end = (answer: Upgraded | Refused | undefined) => {
        socket.off('close', gone);
        resolve(answer);
      };
      asked
        .on('upgrade', (answer, upstream, head) => end({ kind: 'upgraded', answer, upstream, head }))
        .on('response', (answer) => {
          answer.resume();
          const { statusCode: status = 502, statusMessage = '' } = answer;
          end({ kind: 'refused', status, head: `HTTP/1.1 ${status} ${statusMessage}\r\nconnection: close\r\n\r\n` });
        })
        .on('error', () => end(undefined))
        .end();
    });
  }

  #join({ socket, claim, sent, isAccepted }: Waiting, { answer, upstream, head }: Upgraded): void {
    if (socket.destroyed) return void upstream.destroy();
    const frames = new ServerFrames();
    const end = this.#options.streams.add(claim, 'socket', () =>
      frames.endWith(closeFrame(restart, 'the service restarts: resume with after')),
    );
    // A client that does not answer the close is not waited for.
    frames.once('end', () => setTimeout(() => socket.destroy(), closeMs).unref());
    if (!isAccepted) socket.write(headOf(answer));
    if (head.length > 0) upstream.unshift(head);
    upstream.write(sent);
    pipeline(upstream, frames, socket, () => {
      end();
      upstream.destroy();
    });
    pipeline(socket, upstream, () => undefined);
  }
}

const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\r\n';

/** Sends the last bytes on a socket. A client that does not end its side is not waited for. */
function endWith(socket: Duplex, last: Buffer | string): void {
  const cut = setTimeout(() => socket.destroy(), closeMs);
  socket.once('close', () => clearTimeout(cut));
  socket.resume().end(last);
}

interface Waiting {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly claim: Claim;
  /** What the client has sent since its upgrade. */
  readonly sent: Buffer;
  /** Whether the front has accepted the socket itself. */
  readonly isAccepted: boolean;
}

interface Upgraded {
  readonly kind: 'upgraded';
  readonly answer: IncomingMessage;
  readonly upstream: Duplex;
  readonly head: Buffer;
}

interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  readonly head: string;
}

function headOf(answer: IncomingMessage): string {
  const lines = ['HTTP/1.1 101 Switching Protocols'];
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/**
 * Returns what the first message says: the claim of its credentials, or an empty one for a message that begins nothing, which any
 * instance refuses. Undefined for a ping or a pong, which may come before.
 */
function claimIn(message: RawData): Claim | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(String(message));
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null || !('type' in parsed)) return {};
  if (parsed.type === 'ping' || parsed.type === 'pong') return undefined;
  const payload: unknown = 'payload' in parsed ? parsed.payload : undefined;
  const credentials = Object.entries(typeof payload === 'object' && payload !== null ? payload : {}).find(
    ([name, value]) => name.toLowerCase() === 'authorization' && typeof value === 'string',
  );
  return claimOfAuthorization(credentials ? String(credentials[1]) : undefined) ?? {};
}
