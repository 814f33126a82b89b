import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, ConfigError, type GatewaySettings } from '../config.ts';

/** Binds the port briefly, so that a bad HOST or PORT (a ConfigError) aborts startup before the database is touched. */
export async function checkListening(config: Config): Promise<void> {
  if (config.ROLE !== 'work') await tryPort(config);
  if (config.METRICS_PORT !== undefined) await tryPort(config, 'METRICS');
}

async function tryPort(config: Config, prefix?: 'METRICS'): Promise<void> {
  const [host, port] = prefix ? [config.METRICS_HOST, config.METRICS_PORT] : [config.HOST, config.PORT];
  const server = createServer();
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    throw listenError(error, config, prefix);
  }
  await once(server.close(), 'close');
}

/** Converts an operating system error to a ConfigError about HOST or PORT; returns any other error unchanged. */
export function listenError(error: unknown, config: GatewaySettings, prefix?: 'METRICS'): unknown {
  const name = prefix ? (`${prefix}_` as const) : '';
  const [HOST, PORT] = [config[`${name}HOST`], config[`${name}PORT`]];
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError([
        `${name}PORT ${PORT} of ${HOST} is in use by another process: stop it, or set another ${name}PORT`,
      ]);
    case 'EACCES':
      return new ConfigError([
        `${name}PORT ${PORT} may not be opened by this user: set a ${name}PORT of 1024 or above`,
      ]);
    default:
      return new ConfigError([`${name}HOST ${HOST} is not an address of this machine (${error.code})`]);
  }
}
