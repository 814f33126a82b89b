import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

/** PostGraphile in its production configuration, serving the database at DATABASE_URL, with the gateway's pool size. */
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE_URL ?? '',
      schemas: ['public', 'bench'],
      poolConfig: { max: 10 },
    }),
  ],
  grafserv: { graphqlPath: '/graphql', graphiql: false, websockets: false },
  grafast: { explain: false },
});

const server = createServer();
await instance.createServ(grafserv).addTo(server);
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () =>
  console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`),
);
process.once('SIGTERM', () => process.exit(0));
