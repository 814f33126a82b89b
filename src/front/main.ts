import { pino } from 'pino';
import { DirectoryFault, DirectoryFile } from '../clusters/directory.ts';
import { type Front, startFront } from './front.ts';
import { FrontSettingsError, readFrontSettings } from './settings.ts';

/** Runs `npm run front`: one address in front of several clusters. Ctrl-C or SIGTERM stops it. */
async function main(): Promise<void> {
  const settings = readFrontSettings(process.env);
  const log = pino({ level: settings.LOG_LEVEL }, pino.destination({ dest: 2, sync: false }));
  const directory = new DirectoryFile(settings.CLUSTER_DIRECTORY, log);
  const front: Front = await startFront({
    directory,
    host: settings.HOST,
    port: settings.PORT,
    shutdownDelayMs: settings.SHUTDOWN_DELAY_MS,
    metrics:
      settings.METRICS_PORT === undefined ? undefined : { host: settings.METRICS_HOST, port: settings.METRICS_PORT },
    log,
  });
  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'stopping');
    await front.stop();
    directory.close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(signal));
  console.log(`\n  Front       ${front.url}   (clusters: ${[...directory.current.clusters.keys()].join(', ')})`);
  console.log(front.metricsUrl === undefined ? '' : `  Metrics     ${front.metricsUrl}/metrics\n`);
}

main().catch((error: unknown) => {
  console.error(error instanceof FrontSettingsError || error instanceof DirectoryFault ? error.message : error);
  process.exit(1);
});
