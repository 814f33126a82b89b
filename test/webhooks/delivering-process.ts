import { pino } from 'pino';
import { readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';

/** A process, configured by its environment, that does only background work. A test kills it. */
const config = readConfig(process.env);
await startGateway({
  databaseUrl: config.DATABASE_URL ?? '',
  config: { ...config, ROLE: 'work' },
  log: pino({ level: 'error' }, pino.destination(2)),
});
console.log('working');
