import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A name server for the instances alone, which can fail as name servers do: with wrong answers or none. */
export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

/** Only this address leads to the name server, at the port that all resolvers use. */
const address = '127.7.7.7';

/** The name under which the instances know the database. */
export const databaseName = 'database.internal';

/** Whether this user may give processes a name server of their own. */
export const canServeNames = () =>
  spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/hostname', '/etc/resolv.conf']).status === 0;

/** Starts a name server for which every name has the address 127.0.0.1. */
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
    /** A command that runs its arguments with this name server. */
    wrapper: ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', file],
    /** The number of questions so far. */
    get asked() {
      return asked;
    },
    /** Answers, says that no name exists, or says nothing. */
    set mode(next: typeof mode) {
      mode = next;
    },
    async stop() {
      socket.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Answers a question (RFC 1035, 4.1) with an IPv4 address, with no record for other types, or with NXDOMAIN. */
function answerTo(question: Buffer, isKnown: boolean): Buffer {
  const nameEnd = question.indexOf(0, 12);
  const asked = question.subarray(12, nameEnd + 5);
  const hasAddress = isKnown && question.readUInt16BE(nameEnd + 1) === 1;
  const header = Buffer.from(question.subarray(0, 12));
  // An answer, with recursion; 3 is NXDOMAIN. One question, and no additional records.
  header.writeUInt16BE(0x8180 | (isKnown ? 0 : 3), 2);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  // The name of the question, type A, class IN, no time to live, four bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, asked, ...(hasAddress ? [record] : [])]);
}
