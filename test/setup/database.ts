import { afterAll, inject, onTestFinished } from 'vitest';
import {
  type Database,
  type DatabaseOptions,
  type DatabaseRole,
  openDatabase,
} from '../../src/infra/database/database.ts';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';

/** Creates a database for the test, with every migration applied. Takes about 15 ms, so tests need not share one. */
export async function freshDatabase(): Promise<ThrowawayDatabase> {
  const server = inject('server');
  return createThrowawayDatabase(server.url, server.template);
}

/** Creates a database with every migration applied, shared by all tests in a file, and drops it afterwards. */
export async function testDatabase(): Promise<ThrowawayDatabase> {
  const database = await freshDatabase();
  afterAll(() => database.drop());
  return database;
}

/** Creates a database with every migration applied, and drops it when the current test ends. */
export async function ownDatabase(): Promise<ThrowawayDatabase> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return database;
}

/** Creates a database without tables, and drops it when the current test ends. */
export async function emptyDatabase(): Promise<ThrowawayDatabase> {
  const database = await createThrowawayDatabase(inject('server').url);
  onTestFinished(() => database.drop());
  return database;
}

/** Opens a database as the owner of its tables, for operations that the gateway's roles are denied. */
export function openAsOwner(options: Omit<DatabaseOptions, 'role'>): Database {
  return openDatabase({ ...options, role: 'postgres' as DatabaseRole });
}
