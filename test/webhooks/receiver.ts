import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, onTestFinished } from 'vitest';
import { listen } from '../setup/free-port.ts';
import type { Data } from '../setup/gateway.ts';

/** A message as a receiver gets it: the headers, the raw bytes, and the parsed content. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
  readonly body: Data;
}

export type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

/** Responds with a status and, optionally, headers. */
export function answer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => response.writeHead(status, headers).end();
}

/** Returns the number of distinct events in the messages. */
export const distinct = (received: readonly Received[]) => new Set(received.map(({ id }) => id)).size;

/** A webhook receiver on the loopback interface, whose responses can be changed while it runs. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver that all tests in a file share. */
export async function testReceiver(first?: Answer): Promise<Receiver> {
  const receiver = await startReceiver(first);
  afterAll(() => receiver.stop());
  return receiver;
}

/** Starts a receiver that is stopped when the current test ends, even if the test fails. */
export async function ownReceiver(first?: Answer): Promise<Receiver> {
  const receiver = await startReceiver(first);
  onTestFinished(() => receiver.stop());
  return receiver;
}

export async function startReceiver(first: Answer = answer(200)) {
  const received: Received[] = [];
  const arrivals = new EventEmitter();
  let connections = 0;
  const server = createServer(async (request, response) => {
    const raw = await text(request).catch(() => undefined);
    if (raw === undefined) return;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const one: Received = { id: headers['webhook-id'] ?? '', headers, raw, body: JSON.parse(raw) };
    received.push(one);
    receiver.answer(response, one, request);
    arrivals.emit('arrival');
  });
  server.on('connection', () => {
    connections += 1;
  });
  const receiver = {
    url: `http://127.0.0.1:${await listen(server)}/hooks`,
    received,
    /** How many connections the receiver has accepted. */
    get connections() {
      return connections;
    },
    answer: first,
    /** Waits until the received messages are as expected. */
    async until(wanted: (received: readonly Received[]) => boolean) {
      while (!wanted(received)) await once(arrivals, 'arrival');
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

/** Verifies a signature as a receiver would, with the Standard Webhooks library. @throws Error if it is wrong */
export function verify(secret: string, received: Received): unknown {
  return new Webhook(secret).verify(received.raw, { ...received.headers });
}

/** Forwards a webhook unchanged to another address. Returns that address's response. */
export const passWebhookTo = (url: string, { raw, headers }: Pick<Received, 'raw' | 'headers'>): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body: raw,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => /^(webhook-|x-forwarded)/.test(name))),
  });
