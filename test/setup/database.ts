import { inject } from 'vitest';
import {
  type Database,
  type DatabaseOptions,
  type DatabaseRole,
  openDatabase,
} from '../../src/infra/database/database.ts';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/infra/database/migrations/throwaway.ts';

/** A database of the test's own, with every migration applied. About 15 ms: tests need not share one. */
export async function freshDatabase(): Promise<ThrowawayDatabase> {
  const server = inject('server');
  return createThrowawayDatabase(server.url, server.template);
}

/** A database of the test's own without any table. */
export async function emptyDatabase(): Promise<ThrowawayDatabase> {
  return createThrowawayDatabase(inject('server').url);
}

/** Opens a database as the owner of its tables, for acts that the gateway's roles are denied. */
export function openAsOwner(options: Omit<DatabaseOptions, 'role'>): Database {
  return openDatabase({ ...options, role: 'postgres' as DatabaseRole });
}
