import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A name server used only by the instances. Like real name servers, it can fail by giving wrong answers or none. */
export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

/** The name server has its own address, so that it can use the port that all resolvers expect. */
const address = '127.7.7.7';

export const databaseName = 'database.internal';

/** Whether the current user may give processes their own name server. */
export const canServeNames = () =>
  spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/hostname', '/etc/resolv.conf']).status === 0;

/** Starts a name server that resolves every name to 127.0.0.1. */
export async function startNameServer() {
  const folder = await mkdtemp(join(tmpdir(), 'payments-names-'));
  const file = join(folder, 'resolv.conf');
  await writeFile(file, `nameserver ${address}\n`);
  let mode: 'answers' | 'knows nothing' | 'silent' = 'answers';
  let asked = 0;
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    asked += 1;
    if (mode !== 'silent') socket.send(answerTo(question, mode === 'answers'), from.port, from.address);
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  return {
    wrapper: ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', file],
    /** The number of queries so far. */
    get asked() {
      return asked;
    },
    /** How the server reacts to a query: it answers, says that the name does not exist, or does not reply. */
    set mode(next: typeof mode) {
      mode = next;
    },
    async stop() {
      socket.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Answers a query (RFC 1035, 4.1) with an IPv4 address, no record (for other types), or NXDOMAIN. */
function answerTo(question: Buffer, isKnown: boolean): Buffer {
  const nameEnd = question.indexOf(0, 12);
  const asked = question.subarray(12, nameEnd + 5);
  const hasAddress = isKnown && question.readUInt16BE(nameEnd + 1) === 1;
  const header = Buffer.from(question.subarray(0, 12));
  // Header: a response with recursion, code 3 (NXDOMAIN) for an unknown name, one question, no additional records.
  header.writeUInt16BE(0x8180 | (isKnown ? 0 : 3), 2);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  // Answer: the name from the question, type A, class IN, time to live 0, four bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, asked, ...(hasAddress ? [record] : [])]);
}
