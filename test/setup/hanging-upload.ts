import { once } from 'node:events';
import { heardOn, openConnection } from './raw-http.ts';

/** A request whose head has been read but whose body never fully arrives. */
export type HangingUpload = Awaited<ReturnType<typeof hangingUpload>>;

/** Begins a request with a 50-byte body, sends the first byte, and waits until the gateway has read it. */
export async function hangingUpload(
  url: string,
  head: readonly string[] = ['POST /graphql HTTP/1.1', 'Content-Type: application/json'],
) {
  const socket = await openConnection(url);
  const heard = heardOn(socket);
  // The two requests are pipelined. When the response to the first arrives, the server has also read the second.
  const ping = ['GET /health/live HTTP/1.1', 'Host: localhost', '', ''].join('\r\n');
  socket.write(`${ping}${[...head, 'Host: localhost', 'Content-Length: 50', '', '{'].join('\r\n')}`);
  await heard.until('\r\n0\r\n\r\n');
  heard.forget();
  return {
    socket,
    answer: heard.text,
    /** Aborts the request, and waits until the server notices. */
    async breakOff() {
      const closed = once(socket, 'close');
      socket.end();
      await closed;
    },
  };
}
