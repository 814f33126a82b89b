import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connections without an HTTP client. */

/** Opens a connection. */
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
    /** Returns everything since the beginning, or since the last `forget`. */
    text: () => text,
    forget() {
      text = '';
    },
    /** Everything until the connection closes. */
    ended: new Promise<string>((resolve) => socket.once('close', () => resolve(text))),
    /** Waits for this part of the text. */
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
