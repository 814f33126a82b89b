import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import { within } from '../../../src/infra/instruments/within.ts';
import { Choices } from '../../oracle/choices.ts';
import { readMaterial } from '../../oracle/material.ts';
import { testGateway } from '../../setup/gateway.ts';
import { openRawSocket } from '../../setup/streams.ts';
import { answer, testReceiver } from '../../webhooks/receiver.ts';
import { unlimited } from '../limits.ts';
import { restOperations } from '../matrix/rest-matrix.ts';
import { fresh, makeThings } from '../matrix/things.ts';
import { drawProbe, type Hostility, type HttpProbe, type Probe, type SocketProbe } from './probes.ts';

interface Outcome {
  /** The HTTP status or, for a socket, its close code. The code is 0 if the socket stayed open. */
  readonly status: number;
  readonly retryAfter: boolean;
  readonly text: string;
}

/** An operation that is still running after this time has evaded the service's limit of 10 s. */
const limitMs = 20_000;
/** How long a probe waits for a stream's next message. A stream may open without having anything to send. */
const silenceMs = 40;

/** Sends a probe. @throws Error if there is no response within the limit */
type Send = (probe: Probe) => Promise<Outcome>;

async function sendRequest(pool: Pool, { method, path, headers, body }: HttpProbe): Promise<Outcome> {
  const leaving = new AbortController();
  const answer = await pool.request({
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

async function sendFrames(url: string, { authorization, frames }: SocketProbe): Promise<Outcome> {
  const { socket, closed, send } = await within(limitMs, openRawSocket(url, authorization));
  const heard: string[] = [];
  const finished = new Promise<number>((resolve) => {
    socket.on('message', (message) => {
      const text = String(message);
      heard.push(text);
      const { id, type } = JSON.parse(text);
      if (id === 'last' && type !== 'next') resolve(0);
    });
  });
  for (const frame of frames) socket.send(frame);
  send({ type: 'subscribe', id: 'last', payload: { query: '{ viewer { kind } }' } });
  const answered = finished.then(() => delay(silenceMs, 0));
  const status = await within(limitMs, Promise.race([closed.then(({ code }) => code), answered]));
  socket.close();
  return { status, retryAfter: false, text: heard.join('\n') };
}

/** Reads a stream until it ends or is briefly silent, and returns its messages. */
async function firstOf(
  body: AsyncIterable<Buffer> & { on(event: 'error', handle: () => void): unknown },
  leaving: AbortController,
): Promise<string> {
  body.on('error', () => undefined);
  const chunks = body[Symbol.asyncIterator]();
  let text = '';
  while (!/^event: complete/m.test(text)) {
    const next = await within(silenceMs, chunks.next()).catch(() => undefined);
    if (!next || next.done) break;
    text += String(next.value);
  }
  leaving.abort();
  return text;
}

function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '')]),
  );
}

/** The number of probes in a run, and the number of responses for each transport and status. */
export interface Figures {
  probes: number;
  readonly answers: Map<string, number>;
}

/** A response size limit that some lists in the scene exceed. */
const maxAnswerBytes = 6_000;

/** The number of probes after which new objects are created, because some probes delete objects. */
const roundProbes = 5_000;

export async function openHostileWorld() {
  const receiver = await testReceiver(answer(202));
  const settings = { ...unlimited, SECRET_KEY: randomBytes(32) };
  /** The gateway that creates the objects for the probes, with the usual response size limit. */
  const maker = await testGateway({ ...settings, ROLE: 'serve' });
  /** The gateway that serves the probes and also does the background work. */
  const t = await testGateway({ ...settings, MAX_ANSWER_BYTES: maxAnswerBytes }, maker.databaseUrl);
  const operations = await restOperations(t.url);

  async function newHostility(): Promise<Hostility> {
    const platform = await maker.newPlatform(fresh('hostile'));
    const things = await makeThings(platform, receiver.url);
    // Enough rows for some lists to exceed the response size limit.
    for (let more = 0; more < 30; more++) await platform.newCustomer();
    const material = await readMaterial(platform, [['transferOut', 'never-used']], []);
    const app = await platform.payingApp({ customerId: things.Customer });
    return { things, material, operations, authorizations: [platform.authorization, app.authorization, ''] };
  }

  return {
    /**
     * Sends a number of random probes, over several concurrent connections.
     * @param usualSeed determines the probes; ATTACK_SEED overrides it
     * @throws Error for the first bad response, with its seed, the shrunk probe and the response
     */
    async run(probes: number, lines: number, usualSeed: number): Promise<Figures> {
      const seed = Number(process.env.ATTACK_SEED ?? usualSeed);
      console.log(`ATTACK_SEED=${seed} repeats these ${probes} probes`);
      const figures: Figures = { probes: 0, answers: new Map() };
      const pool = new Pool(t.url, { connections: 32, headersTimeout: limitMs, bodyTimeout: limitMs });
      const send: Send = (probe) =>
        probe.transport === 'socket' ? sendFrames(t.url, probe) : sendRequest(pool, probe);
      try {
        for (let sent = 0; sent < probes; sent += roundProbes) {
          const hostility = await newHostility();
          const each = Math.ceil(Math.min(roundProbes, probes - sent) / lines);
          await Promise.all(
            Array.from({ length: lines }, (_none, line) =>
              sendLine(send, hostility, each, seed + sent + line, figures),
            ),
          );
        }
      } finally {
        await pool.destroy();
      }
      return figures;
    },
  };
}

async function sendLine(
  send: Send,
  hostility: Hostility,
  probes: number,
  seed: number,
  figures: Figures,
): Promise<void> {
  let until = Number.POSITIVE_INFINITY;
  let failed: Error | undefined;
  const one = async (drawn: readonly number[]) => {
    if (performance.now() > until) return;
    const probe = drawProbe(new Choices(drawn), hostility);
    const wrong = await judged(send, probe, figures);
    if (!wrong) return;
    until = Math.min(until, performance.now() + 20_000);
    failed = new Error(`${wrong}\nprobe: ${shown(probe)}\nATTACK_SEED=${seed}`);
    throw failed;
  };
  const numbers = fc.array(fc.nat(0x7fffffff), { minLength: 30, maxLength: 200, size: 'max' });
  try {
    await fc.assert(fc.asyncProperty(numbers, one), { numRuns: probes, seed });
  } catch (error) {
    throw failed ?? error;
  }
}

async function judged(send: Send, probe: Probe, figures: Figures): Promise<string | undefined> {
  let outcome: Outcome;
  try {
    outcome = await send(probe);
    // A request refused because of load was not executed, so it is sent again, as a client on a busy machine would do.
    for (let again = 0; isOverload(probe, outcome) && again < 5; again += 1) outcome = await send(probe);
  } catch (error) {
    return `no answer: ${error}`;
  }
  figures.probes += 1;
  const name = `${probe.transport} ${outcome.status}`;
  figures.answers.set(name, (figures.answers.get(name) ?? 0) + 1);
  const wrong = wrongIn(probe, outcome);
  return wrong && `${wrong}: ${outcome.status} ${outcome.text.slice(0, 1_500)}`;
}

const internals: readonly (readonly [what: string, form: RegExp])[] = [
  ['a masked error', /INTERNAL_SERVER_ERROR|INTERNAL_ERROR/],
  [
    'SQL',
    /select .{1,200} from \w+|insert into \w+|violates \w+ \w* ?constraint|syntax error at or near|relation "\w+"|\bpg_\w+/i,
  ],
  ['a part of the service', /prisma|postgres|node_modules|ECONNREFUSED|file:\/\//i],
  ['a stack', /\bat [\w.<>]+ \(?[^ ]*:\d+:\d+|\.ts:\d+/],
];
/** The close codes that graphql-ws and WebSocket use for server errors. */
const faults = [4500, 1011];
/** Returns the maximum size of a response in bytes. Responses contain what was read, and errors may quote the probe. */
function boundOf(probe: Probe): number {
  const sent = probe.transport === 'socket' ? probe.frames.join('') : `${probe.path}${probe.body ?? ''}`;
  // A document with mutations reads once per mutation, at most five times.
  const reads = /mutation|subscription/.test(sent) ? 5 : 1.5;
  // Tables of a fixed size, such as rates and currencies, do not count as reads.
  const tables = 40_000 * (sent.match(/exchangeRates|currencies|externalAccountForms/g)?.length ?? 0);
  return tables + maxAnswerBytes * reads + 2 * Buffer.byteLength(sent) + 1_000;
}

/**
 * Splits what a probe received into messages. Each is checked separately, because a stream may repeat the events after
 * its cursor.
 */
function answersIn({ transport }: Probe, text: string): string[] {
  if (transport === 'socket') return text.split('\n');
  return transport === 'event stream' ? text.split('\n\n') : [text];
}

function isOverload({ transport }: Probe, { status, retryAfter }: Outcome): boolean {
  return transport !== 'socket' && status === 503 && Boolean(retryAfter);
}

function wrongIn(probe: Probe, { status, retryAfter, text }: Outcome): string | undefined {
  if (probe.transport === 'socket' && faults.includes(status)) return 'a socket is closed because of a server fault';
  if (probe.transport !== 'socket' && status >= 500 && !(status === 501 && text.includes('"NOT_IMPLEMENTED"'))) {
    return isOverload(probe, { status, retryAfter, text })
      ? 'a refusal because of overload, although there is no load'
      : 'a fault of the server';
  }
  // GraphiQL, for browsers.
  if (text.trimStart().startsWith('<!doctype')) return undefined;
  for (const [what, form] of internals) if (form.test(text)) return `the answer reveals ${what}`;
  const bound = probe.transport === 'REST' ? Number.POSITIVE_INFINITY : boundOf(probe);
  if (answersIn(probe, text).some((answer) => Buffer.byteLength(answer) > bound)) return 'an answer is too large';
  // Event streams and incremental responses have other formats.
  if (probe.transport === 'JSON' && text.startsWith('{')) return wrongErrors(text);
  return undefined;
}

function wrongErrors(text: string): string | undefined {
  let answered: { errors?: { extensions?: { code?: unknown } }[] };
  try {
    answered = JSON.parse(text);
  } catch {
    return 'the answer is not JSON';
  }
  return answered.errors?.some(({ extensions }) => typeof extensions?.code !== 'string')
    ? 'an error has no code'
    : undefined;
}

function shown(probe: Probe): string {
  return JSON.stringify(probe, (_key, value: unknown) =>
    Buffer.isBuffer(value) ? value.toString('latin1') : value,
  ).slice(0, 6_000);
}
