import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/** The statements of a minimal handler. It only runs them and forwards their JSON, so no server can be faster. */
const statements = JSON.parse(process.env.STATEMENTS ?? '{}') as Record<string, string>;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c timezone=UTC' });
pool.on('error', () => undefined);

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { name, values } = JSON.parse(Buffer.concat(parts).toString()) as { name: string; values: unknown[] };
    pool.query<{ json: string }>({ name, text: statements[name] ?? '', values }).then(
      ({ rows }) => response.writeHead(200, { 'content-type': 'application/json' }).end(rows[0]?.json),
      (error: Error) => response.writeHead(500).end(JSON.stringify({ errors: [error.message] })),
    );
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
process.once('SIGTERM', () => process.exit(0));
