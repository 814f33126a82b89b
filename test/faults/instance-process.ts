import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { startGateway } from '../../src/gateway.ts';

// An instance on the settings of its environment that gives up a silent database after a second, not after ten. SIGTERM
// stops it in an orderly way.

const config = readConfig(process.env);
const gateway = await startGateway({
  databaseUrl: config.DATABASE_URL ?? '',
  config,
  log: pino({ level: config.LOG_LEVEL }, pino.destination(2)),
  pace: { statementMs: 1_000, slowMs: Number.POSITIVE_INFINITY, idleMs: 0 },
});
process.once('SIGTERM', () => gateway.stop().then(() => process.exit(0)));
console.log(`GraphQL ${gateway.url}/graphql`);
