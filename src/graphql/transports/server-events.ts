import type { ServerResponse } from 'node:http';

/**
 * Event streams in the format of the HTML standard (server-sent events), as GraphQL over SSE uses it: messages with a type and
 * JSON, comments as signs of life.
 */

/**
 * Begins an event stream and sends a sign of life now and then. That is a comment line alone: a blank line after it would be
 * an empty message to some parsers.
 * @param status the status of the response
 * @param keepAliveMs the milliseconds between two signs of life
 * @param retryMs how many milliseconds a client of the standard waits before it reconnects
 */
export function beginEventStream(
  response: ServerResponse,
  status: number,
  { keepAliveMs, retryMs }: { readonly keepAliveMs: number; readonly retryMs?: number },
): void {
  response.writeHead(status, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    // Proxies that buffer a whole response would never pass an event stream on.
    'x-accel-buffering': 'no',
  });
  response.write(retryMs === undefined ? ':\n' : `:\nretry: ${retryMs}\n`);
  const ping = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n');
  }, keepAliveMs).unref();
  response.once('close', () => clearInterval(ping));
}

/** A message of an event stream. */
export interface ServerEvent {
  readonly event: 'next' | 'complete';
  /** JSON, in one line; '' for none. */
  readonly data: string;
  /** What a client sends as Last-Event-ID when it reconnects. */
  readonly id?: string | undefined;
}

/** Sends a message and waits until the connection takes more. */
export function sendEvent(response: ServerResponse, { event, data, id }: ServerEvent): Promise<void> {
  return sendText(response, `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
}

/** Sends text and waits until the connection takes more, so that nothing runs ahead of the reader. */
export async function sendText(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) return;
  if (response.write(text)) return;
  await new Promise<void>((resolve) => {
    const resume = () => {
      response.off('drain', resume).off('close', resume);
      resolve();
    };
    response.on('drain', resume).on('close', resume);
  });
}
