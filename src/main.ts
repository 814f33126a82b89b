import path from 'node:path';
import type { Logger } from 'pino';
import { basicAuthorization } from './domain/access/tokens/credentials.ts';
import { openDatabase } from './infra/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './infra/database/embedded/embedded.ts';
import { isLoopbackAddress } from './infra/net/addresses.ts';
import { closeRails } from './rails/load-rails.ts';
import { type Config, ConfigError, readConfig } from './server/config.ts';
import { type Gateway, openPayments, startGateway } from './server/gateway.ts';
import { openLog } from './server/observe/log.ts';
import { printError } from './server/print-error.ts';
import { findKeys } from './server/start/key-file.ts';
import { checkKeys, idsOfKeys } from './server/start/keys-in-use.ts';
import { checkListening } from './server/start/listening.ts';
import { collectStart, setMemoryFlags } from './server/start/memory.ts';
import { prepareDatabase } from './server/start/prepare-database.ts';
import { type LocalSandbox, prepareSandboxPlatform, sandboxCredentials } from './server/start/sandbox-platform.ts';
import { startTracing } from './server/start/tracing.ts';
import { refuseUnsafe } from './server/start/unsafe-settings.ts';

/** Runs `npm start`: prepares the database and starts the gateway. A signal stops everything in reverse order. */
async function main(): Promise<void> {
  setMemoryFlags();
  const settings = readConfig(process.env);
  refuseUnsafe(settings);
  // The sandbox's fixed credentials exist only in the embedded database, which no other machine can reach.
  const local = settings.DATABASE_URL === undefined;
  if (local && settings.HOST !== 'localhost' && !isLoopbackAddress(settings.HOST)) {
    throw new ConfigError([
      `HOST ${settings.HOST} is not the loopback interface, but the embedded sandbox has fixed credentials. Set DATABASE_URL to serve other machines`,
    ]);
  }
  await checkListening(settings);
  const config = { ...settings, ...(await findKeys(settings)) };
  const log = openLog(config.LOG_LEVEL);
  const tracing = await startTracing(config);
  const dataDir = path.resolve(config.DATA_DIR);
  const starting = local ? startEmbeddedPostgres({ dataDir, warn: (line) => log.warn(line) }) : undefined;

  let gateway: Gateway | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (signal: string) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping');
      await gateway?.stop();
      await tracing?.stop();
      await starting?.then(
        (embedded) => embedded.stop(),
        () => undefined,
      );
    })();
    return stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stop(signal).then(() => process.exit(0), fail));

  try {
    const embedded = await starting;
    const { databaseUrl, pooler } = await prepareDatabase(config, embedded, (line) => log.info(line));
    if (pooler) log.info({ prepares: pooler.prepares }, 'requests use the connection pooler in DATABASE_URL');
    const sandbox = await prepareRows(databaseUrl, config, log);
    if (!config.CLIENT_TOKEN_KEY) log.warn('CLIENT_TOKEN_KEY is not set: no client tokens can be created');
    gateway = await startGateway({ databaseUrl, pooler, config, log, sandbox });
    collectStart();
    console.log(banner(gateway.url, embedded));
  } catch (error) {
    // While the process is stopping after a signal, errors need not be printed.
    if (stopping) return stopping;
    await stop('failed start');
    throw error;
  }
}

/** Checks that this instance has the keys used by others, logs its own key ids, and prepares the local sandbox. */
async function prepareRows(url: string, config: Config, log: Logger): Promise<LocalSandbox | undefined> {
  const isLocal = config.DATABASE_URL === undefined;
  const role = isLocal || config.ROLE === 'work' ? 'gateway_work' : 'gateway_serving';
  const database = openDatabase({ url, role, poolSize: 2 });
  try {
    for (const fault of await checkKeys(database, config)) log.warn(fault);
    log.info(
      { SECRET_KEY: idsOfKeys(config, 'SECRET_KEY'), CLIENT_TOKEN_KEY: idsOfKeys(config, 'CLIENT_TOKEN_KEY') },
      'the ids of the keys; the first of each kind signs or encrypts',
    );
    if (!isLocal) return undefined;
    const payments = await openPayments(database, config, log);
    return await prepareSandboxPlatform(payments).finally(() => closeRails(payments.rails));
  } finally {
    await database.close();
  }
}

function banner(url: string | undefined, local: EmbeddedPostgres | undefined): string {
  if (url === undefined) return 'Doing background work only (ROLE=work).';
  const query = JSON.stringify({
    query:
      '{ accounts(first: 3) { edges { node { id currency { code } ... on InternalAccount { balance { formatted } } } } } }',
  });
  const lines = [
    '',
    `  GraphQL     ${url}/graphql      (in a browser: ${url})`,
    `  WebSocket   ${url.replace('http', 'ws')}/graphql`,
    `  REST        ${url}/2025-10-13   (in a browser: ${url}/2025-10-13/docs)`,
    `  Health      ${url}/health/ready`,
  ];
  if (local) {
    lines.push(
      `  Credentials clientId ${sandboxCredentials.clientId}, secret ${sandboxCredentials.secret}`,
      `              Authorization: ${basicAuthorization(sandboxCredentials)}`,
      `  Data        ${local.dataDirectory}`,
      ...(local.notice ? [`  Note        ${local.notice}`] : []),
      '',
      '  Try it:',
      `  curl -s -u ${sandboxCredentials.clientId}:${sandboxCredentials.secret} ${url}/graphql -H 'content-type: application/json' -d '${query}'`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function fail(error: unknown): never {
  printError(error);
  process.exit(1);
}

main().catch(fail);
