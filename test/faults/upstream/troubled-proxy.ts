import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { listen } from '../../setup/free-port.ts';
import { bodyOf, type PassedOn, passOn } from '../../setup/pass-on.ts';
import type { Random } from '../random.ts';

const troubles = [
  'delayed',
  'cut before it arrives',
  'cut before its answer',
  'sent twice',
  'overtaken by the next one',
  '500 before it arrives',
  '500 in place of its answer',
] as const;
export type Trouble = (typeof troubles)[number];

/** The longest delay in milliseconds, including that of a request waiting for the next one to overtake it. */
const longestMs = 300;

/**
 * Starts a proxy.
 * @param target the current address of the service; undefined while there is none
 * @param oneIn one in this many requests is disrupted
 */
export async function startTroubledProxy(target: () => string | undefined, random: Random, oneIn: number) {
  const met = new Map<Trouble, number>(troubles.map((trouble) => [trouble, 0]));
  /** Each function releases a request that is waiting to be overtaken. */
  const overtaken = new Set<() => void>();
  let isCalm = false;
  const send = async (request: IncomingMessage, body: Buffer): Promise<PassedOn> => {
    const url = target();
    if (url === undefined) throw new Error('nothing listens there');
    const answered = await passOn(url, request, body);
    for (const goOn of overtaken) goOn();
    return answered;
  };

  async function carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const trouble = !isCalm && random.oneIn(oneIn) ? random.oneOf(troubles) : undefined;
    if (trouble) met.set(trouble, (met.get(trouble) ?? 0) + 1);
    const body = await bodyOf(request);
    if (trouble === 'cut before it arrives') return void request.socket.destroy();
    if (trouble === '500 before it arrives') return answer(response, failure);
    if (trouble === 'delayed') await delay(random.below(longestMs));
    if (trouble === 'overtaken by the next one') await untilOvertaken();
    const first = send(request, body);
    if (trouble === 'sent twice') await Promise.allSettled([first, send(request, body)]);
    const answered = await first;
    if (trouble === 'cut before its answer') return void request.socket.destroy();
    answer(response, trouble === '500 in place of its answer' ? failure : answered);
  }

  function untilOvertaken(): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        overtaken.delete(goOn);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(goOn, longestMs);
      overtaken.add(goOn);
    });
  }

  const server = createServer((request, response) => {
    carry(request, response).catch(() => response.destroy());
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    met,
    /** Stops disrupting requests until `goOn` is called. */
    pause() {
      isCalm = true;
    },
    goOn() {
      isCalm = false;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const failure: PassedOn = { status: 500, type: 'text/plain', text: 'an error of the network' };

function answer(response: ServerResponse, { status, type, text }: PassedOn): void {
  response.writeHead(status, { 'content-type': type }).end(text);
}
