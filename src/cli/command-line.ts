import path from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { startEmbeddedPostgres } from '../database/embedded/embedded.ts';
import { printError } from '../print-error.ts';
import { prepareDatabase } from '../start/prepare-database.ts';

/**
 * Runs a command on the database of the settings: DATABASE_URL, or the embedded one in DATA_DIR, which a running gateway
 * may use at the same time, prepared as at a start (MIGRATE). The command returns the exit code; an error is printed and exits
 * with 1.
 */
export async function runOnDatabase(command: (database: Database, config: Config) => Promise<number>): Promise<void> {
  try {
    const config = readConfig(process.env);
    const embedded =
      config.DATABASE_URL === undefined
        ? await startEmbeddedPostgres({ dataDir: path.resolve(config.DATA_DIR), warn: (line) => console.error(line) })
        : undefined;
    try {
      const url = await prepareDatabase(config, embedded);
      const database = openDatabase({ url, role: 'gateway_work', poolSize: 2 });
      process.exitCode = await command(database, config);
      await database.close();
    } finally {
      await embedded?.stop();
    }
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}
