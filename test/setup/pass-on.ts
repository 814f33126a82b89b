import type { IncomingMessage } from 'node:http';

export interface PassedOn {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** The connection-specific headers, which are not forwarded. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect', 'accept-encoding'],
]);

export { buffer as bodyOf } from 'node:stream/consumers';

/** Forwards a request to the service at `target`, and reads its response. */
export async function passOn(
  target: string,
  { url, method, headers }: IncomingMessage,
  body: Buffer,
): Promise<PassedOn> {
  const answer = await fetch(`${target}${url}`, {
    method: method ?? 'GET',
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      ofConnection.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const type = answer.headers.get('content-type') ?? 'application/json';
  return { status: answer.status, type, text: await answer.text() };
}
