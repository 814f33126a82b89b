import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/infra/database/embedded/embedded.ts';

// Uses the embedded server in the given folder until the process is interrupted or killed. If the second argument is
// `durable`, the server writes durably. After an interrupt, the process runs one more statement.

const server = await startEmbeddedPostgres({
  dataDir: process.argv[2] ?? '',
  durable: process.argv[3] === 'durable',
  warn: (line) => console.log(line),
});
const keepAlive = setInterval(() => undefined, 60_000);
process.once('SIGINT', async () => {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query('create table last_work (done boolean)');
  await client.end();
  await server.stop();
  clearInterval(keepAlive);
});
// Printed last, because the parent may interrupt the process as soon as it has read this.
console.log(JSON.stringify({ url: server.url, pid: server.pid, dataDirectory: server.dataDirectory }));
