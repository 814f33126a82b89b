import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { Logger } from 'pino';
import { refusals, refuse } from './answers.ts';
import { forwardedFor, passedOn } from './headers.ts';
import type { Instances } from './instances.ts';
import type { FrontMetrics, Passed } from './metrics.ts';
import type { OpenStreams } from './open-streams.ts';
import type { Route } from './route.ts';

/** How long an instance may take until its answer begins, in milliseconds: longer than the service takes for anything. */
const answerMs = 60_000;

/** The parts of a front that pass things on. */
export interface Passing {
  readonly instances: Instances;
  readonly streams: OpenStreams;
  readonly metrics: FrontMetrics;
  readonly log: Logger;
}

/**
 * Passes a request on to an instance of its cluster, and its answer back, both as they come: a side that is slow slows the other
 * down. Another instance is tried only where no connection came about, or for what only reads: a command that may have arrived is
 * never sent twice.
 * @returns what became of it, when its answer has begun
 */
export async function forward(
  { instances, streams, log }: Passing,
  request: IncomingMessage,
  response: ServerResponse,
  { route, cluster }: { readonly route: Route; readonly cluster: string },
): Promise<Passed> {
  const { method } = request;
  const options = { method, path: route.url ?? request.url, headers: headersOf(request) };
  for (const address of instances.of(cluster, route.instance)) {
    const asked = instances.request(address, options);
    if (!(await isConnected(asked))) {
      if (response.closed) return 'gone';
      instances.noteAway(address);
      continue;
    }
    const answer = await answerOf(asked, request, response);
    if (answer === 'GONE') return 'gone';
    if (answer !== 'LOST') {
      passBack(answer, response, () => streams.add(route.claim, 'stream', () => void response.destroy()));
      return 'answered';
    }
    log.warn({ instance: address }, 'an answer was lost');
    // What only reads may be sent again.
    if (method !== 'GET' && method !== 'HEAD') {
      refuse(response, refusals.lost);
      return 'lost';
    }
  }
  refuse(response, refusals.away);
  return 'away';
}

/** Returns the headers of a request as they are passed on. A body of unknown length has to stay one: else it would be a request. */
function headersOf(request: IncomingMessage): string[] {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return [
    ...passedOn(request, ['x-forwarded-for', 'expect', ...(isChunked ? ['content-length'] : [])]),
    ...forwardedFor(request),
    ...(isChunked ? ['transfer-encoding', 'chunked'] : []),
  ];
}

/** Waits for the connection of a request. Nothing has been sent on it before. */
function isConnected(asked: ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    asked.once('error', () => resolve(false));
    asked.once('socket', (socket) => {
      if (!socket.connecting) return resolve(true);
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => resolve(true));
    });
  });
}

/** Sends the request with its body, and waits for the beginning of the answer. GONE: the client went away. */
function answerOf(
  asked: ClientRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<IncomingMessage | 'LOST' | 'GONE'> {
  return new Promise((resolve) => {
    const gone = () => {
      asked.destroy();
      resolve('GONE');
    };
    response.once('close', gone);
    asked.setTimeout(answerMs, () => asked.destroy(new Error('no answer in time')));
    asked.once('response', (answer) => {
      asked.setTimeout(0);
      response.off('close', gone);
      resolve(answer);
    });
    const lost = () => {
      response.off('close', gone);
      resolve('LOST');
    };
    asked.on('error', lost);
    if (asked.destroyed) return lost();
    if (response.closed) return gone();
    // An instance may answer before it has read the whole body, so the end of one is not that of the other.
    request.on('error', () => asked.destroy()).pipe(asked);
  });
}

function passBack(answer: IncomingMessage, response: ServerResponse, openStream: () => () => void): void {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', passedOn(answer));
  const isStream = /^(text\/event-stream|multipart\/mixed)/.test(answer.headers['content-type'] ?? '');
  const end = isStream ? openStream() : undefined;
  // The head of a stream goes before its first message.
  if (isStream) response.flushHeaders();
  // An answer that breaks off breaks off for the client, too, and one that the client leaves is left.
  pipeline(answer, response, () => end?.());
}
