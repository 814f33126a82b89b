import type { TestProject } from 'vitest/node';
import { makeServingLogin } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import {
  createThrowawayDatabase,
  execute,
  startThrowawayPostgres,
} from '../../src/infra/database/migrations/throwaway.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** This test run's server: a superuser's connection URL, and the migrated database that tests copy. */
    server: { url: string; template: string };
  }
}

/** One server for the whole run, with one migrated database that every test copies. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startThrowawayPostgres();
  try {
    const database = await createThrowawayDatabase(server.url);
    await migrate(database.url);
    await makeServingLogin(database.url);
    const template = new URL(database.url).pathname.slice(1);
    // A database can be copied only while it has no connections. From now on, none are allowed, not even autovacuum's.
    await execute(server.url, `alter database ${template} with allow_connections false`);
    provide('server', { url: server.url, template });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return () => server.stop();
}
