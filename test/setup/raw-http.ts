import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';

/** Sends requests without an HTTP client, or with one that sends exactly what it is given. */

/** Sends a request unchanged, even with headers that `fetch` would not send. A stream is sent in chunks. */
export async function answerTo(url: string | URL, options: RequestOptions, body: string | Uint8Array | Readable = '') {
  const sent = request(url, { agent: false, ...options });
  const answer: Promise<IncomingMessage[]> = once(sent, 'response');
  sent.on('error', () => undefined);
  if (body instanceof Readable) body.pipe(sent);
  else sent.end(body);
  const [response] = await answer;
  if (!response) throw new Error('no response');
  return response;
}

export async function openConnection(url: string, options: { readonly localAddress?: string } = {}): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), ...options }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Collects the text that arrives on a connection. */
export function heardOn(socket: Socket, encoding: BufferEncoding = 'utf8') {
  let text = '';
  socket.setEncoding(encoding).on('data', (data: string) => {
    text += data;
  });
  return {
    /** Returns everything that has arrived so far, or since the last `forget`. */
    text: () => text,
    forget() {
      text = '';
    },
    ended: new Promise<string>((resolve) => socket.once('close', () => resolve(text))),
    /** Waits until the text contains this part. */
    async until(part: string): Promise<string> {
      while (!text.includes(part)) await once(socket, 'data');
      return text;
    },
  };
}

/** Sends raw bytes, and returns everything that arrives until the server closes the connection. */
export async function exchange(url: string, bytes: string | Buffer, encoding?: BufferEncoding): Promise<string> {
  const socket = await openConnection(url);
  const { ended } = heardOn(socket, encoding);
  socket.write(bytes);
  return ended;
}
