import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { WebSocket } from 'ws';
import type { HttpProbe, Probe, SocketProbe } from './probes.ts';

/** The response to a probe. */
export interface Outcome {
  /** The HTTP status; for a socket the code that closed it, 0 if it stayed open. */
  readonly status: number;
  readonly retryAfter: boolean;
  readonly text: string;
}

/** The service ends an operation after 10 s; one that takes longer than this has escaped that limit. */
const limitMs = 20_000;
/** A stream can open and have nothing to send: it is abandoned after this time. */
const silenceMs = 40;

/** Sends probes to a gateway. */
export class Delivery {
  readonly #url: string;
  readonly #pool: Pool;

  constructor(url: string) {
    this.#url = url;
    this.#pool = new Pool(url, { connections: 32, headersTimeout: limitMs, bodyTimeout: limitMs });
  }

  /** @throws Error if there is no response within the limit */
  async send(probe: Probe): Promise<Outcome> {
    if (probe.transport === 'socket') return this.#frames(probe);
    return this.#request(probe);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #request({ method, path, headers, body }: HttpProbe): Promise<Outcome> {
    const leaving = new AbortController();
    const answer = await this.#pool.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers: sendable(headers),
      body: method === 'GET' || method === 'HEAD' ? null : (body ?? null),
      signal: leaving.signal,
    });
    const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
    const text = await (isStream ? firstOf(answer.body, leaving) : answer.body.text());
    return { status: answer.statusCode, retryAfter: 'retry-after' in answer.headers, text };
  }

  async #frames({ authorization, frames }: SocketProbe): Promise<Outcome> {
    const socket = new WebSocket(`${this.#url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('error', () => undefined);
    const heard: string[] = [];
    const ended = new Promise<number>((resolve) => socket.on('close', resolve));
    await Promise.race([once(socket, 'open'), ended]);
    const finished = new Promise<number>((resolve) => {
      socket.on('message', (message) => {
        const text = String(message);
        heard.push(text);
        if (text.includes('"connection_ack"')) {
          for (const frame of frames) socket.send(frame);
          socket.send('{"type":"subscribe","id":"last","payload":{"query":"{ viewer { kind } }"}}');
        }
        if (/"id":"last","type":"complete"|"type":"complete","id":"last"|"id":"last","type":"error"/.test(text))
          resolve(0);
      });
    });
    if (socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
    const late = new AbortController();
    const status = await Promise.race([
      ended,
      finished.then(() => delay(silenceMs, 0)),
      delay(limitMs, -1, { signal: late.signal }).catch(() => -1),
    ]);
    late.abort();
    socket.close();
    if (status === -1) throw new Error('the socket answered nothing within the limit');
    return { status, retryAfter: false, text: heard.join('\n') };
  }
}

/** Returns the first messages of a stream, until it ends or is briefly silent. */
async function firstOf(
  body: AsyncIterable<Buffer> & { on(event: 'error', handle: () => void): unknown },
  leaving: AbortController,
): Promise<string> {
  body.on('error', () => undefined);
  const chunks = body[Symbol.asyncIterator]();
  let text = '';
  for (;;) {
    const quiet = new AbortController();
    const next = await Promise.race([
      chunks.next().catch(() => ({ done: true as const, value: undefined })),
      delay(silenceMs, undefined, { signal: quiet.signal }).catch(() => undefined),
    ]);
    quiet.abort();
    if (!next || next.done) break;
    text += String(next.value);
    if (/^event: complete/m.test(text)) break;
  }
  leaving.abort();
  return text;
}

/** Returns those headers that an HTTP client is able to send. */
function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '')]),
  );
}
