import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { openConnection } from './raw-http.ts';

/** A webhook receiver's response to a request: a status, or a dropped connection. */
export type Answered = number | 'CUT';

/** Returns the headers of a webhook signed with the given secret. */
export function signedHeaders(secret: string, body: string, at = new Date()): Record<string, string> {
  const id = 'Event:019a0000-0000-7000-8000-000000000001';
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

const event = '{"type":"OUTGOING_PAYMENT","transaction":{"id":"Transaction:forged","status":"COMPLETED"}}';

/** Returns the headers and bodies of webhooks that every receiver must refuse, keyed by what is wrong with them. */
export function forgeries(secret: string): Readonly<Record<string, readonly [Record<string, string>, string]>> {
  const good = signedHeaders(secret, event);
  const at = (year: number) => new Date(Date.UTC(year, 0, 1));
  return {
    'no signature': [{}, event],
    'no body': [{}, ''],
    'no body, with a signature': [good, ''],
    'the signature of another secret': [signedHeaders(`whsec_${btoa('another secret')}`, event), event],
    'the signature of another body': [good, event.replace('forged', 'changed')],
    'a malformed signature': [{ ...good, 'webhook-signature': 'v1' }, event],
    'no time': [{ ...good, 'webhook-timestamp': 'now' }, event],
    'a time of 2001': [signedHeaders(secret, event, at(2001)), event],
    'a time of 2099': [signedHeaders(secret, event, at(2099)), event],
    'broken JSON': [{}, '{"type":'],
    'broken JSON, with its signature': [signedHeaders(secret, '{"type":'), '{"type":'],
  };
}

/** Sends forged webhooks to a receiver, and returns its response to each. */
export async function attackReceiver(url: string, secret: string): Promise<Record<string, Answered>> {
  const send = (to: string, init: RequestInit): Promise<Answered> =>
    fetch(to, init).then(
      ({ status }) => status,
      () => 'CUT',
    );
  const answers: Record<string, Answered> = {};
  for (const [what, [headers, body]] of Object.entries(forgeries(secret))) {
    answers[what] = await send(url, { method: 'POST', headers, body });
  }
  answers['a long body'] = await send(url, { method: 'POST', body: 'x'.repeat(10_000_000) });
  answers['another path'] = await send(new URL('/other', url).href, { method: 'POST', body: event });
  answers['another method'] = await send(url, {});
  await goAway(url);
  return answers;
}

/** Begins a request, and aborts the connection. */
async function goAway(url: string): Promise<void> {
  const socket = await openConnection(url);
  socket.write(`POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"type":`);
  socket.resetAndDestroy();
  await once(socket, 'close');
}
