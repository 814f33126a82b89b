import type { ServerResponse } from 'node:http';

/**
 * Subscriptions as multipart responses (`subscriptionSpec=1.0`, the protocol of Apollo's routers and clients): each message is
 * a part with JSON. What concerns the whole stream, as its refusal, is a part with `errors` and no payload.
 */

const boundary = 'graphql';
const contentType = `multipart/mixed;boundary="${boundary}";subscriptionSpec="1.0"`;
const head = '\r\ncontent-type: application/json\r\n\r\n';

/** Tells whether a client takes a subscription in this form. */
export function takesMultipart(accept: string | undefined): boolean {
  return /multipart\/mixed[^,]*;\s*subscriptionspec="?1\.0/i.test(accept ?? '');
}

/** Begins a response and sends an empty part, which clients skip, as a sign of life now and then. */
export function beginMultipart(response: ServerResponse, status: number, keepAliveMs: number): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  // A client takes a part when it has read the boundary after it.
  response.write(`--${boundary}`);
  const ping = setInterval(() => {
    if (!response.writableNeedDrain) response.write(part('{}'));
  }, keepAliveMs).unref();
  response.once('close', () => clearInterval(ping));
}

/** Writes the part of a result, which is JSON. */
export function resultPart(json: string): string {
  return part(`{"payload":${json}}`);
}

/** Writes the part of errors of the whole stream. */
export function errorsPart(errors: readonly object[]): string {
  return part(JSON.stringify({ payload: null, errors }));
}

/** What follows the last part. */
export const multipartEnd = '--\r\n';

function part(json: string): string {
  return `${head}${json}\r\n--${boundary}`;
}
