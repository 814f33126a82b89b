import { pino } from 'pino';
import { readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';
import { directUrl, poolerOf } from '../../src/server/start/prepare-database.ts';

// An instance that takes its settings from the environment and gives up on an unresponsive database after one second
// instead of ten. SIGTERM shuts it down gracefully.

const config = readConfig(process.env);
const gateway = await startGateway({
  databaseUrl: directUrl(config),
  pooler: await poolerOf(config),
  config,
  log: pino({ level: config.LOG_LEVEL }, pino.destination(2)),
  pace: { statementMs: 1_000, slowMs: Number.POSITIVE_INFINITY, idleMs: 0 },
});
process.once('SIGTERM', () => gateway.stop().then(() => process.exit(0)));
console.log(`GraphQL ${gateway.url}/graphql`);
