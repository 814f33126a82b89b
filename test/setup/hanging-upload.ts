import { once } from 'node:events';
import { connect } from 'node:net';

/** A request whose head has been read, and whose body does not arrive. */
export type HangingUpload = Awaited<ReturnType<typeof hangingUpload>>;

/** Begins a request of 50 bytes at the gateway, sends the first of them, and waits until the gateway has read that. */
export async function hangingUpload(
  url: string,
  head: readonly string[] = ['POST /graphql HTTP/1.1', 'Content-Type: application/json'],
) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    answer += data;
  });
  // A request pipelined behind another one has been read once the other one is answered.
  const ping = ['GET /health/live HTTP/1.1', 'Host: localhost', '', ''].join('\r\n');
  socket.write(`${ping}${[...head, 'Host: localhost', 'Content-Length: 50', '', '{'].join('\r\n')}`);
  while (!answer.endsWith('\r\n0\r\n\r\n')) await once(socket, 'data');
  answer = '';
  return {
    socket,
    /** Returns the response so far. */
    answer: () => answer,
    /** Aborts it, and waits until the server notices. */
    async breakOff() {
      const closed = once(socket, 'close');
      socket.end();
      await closed;
    },
  };
}
