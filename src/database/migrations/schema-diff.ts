import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';

/**
 * Returns the SQL that changes a database from one Prisma schema to another, as `prisma migrate diff` writes it; empty
 * when there is no difference.
 *
 * @param databaseUrl any Postgres: the engine reads its version and nothing else
 * @param from text of a schema.prisma, or undefined for an empty database
 * @param to text of a schema.prisma
 */
export async function schemaDiff(databaseUrl: string, from: string | undefined, to: string): Promise<string> {
  return withSchemaEngine(databaseUrl, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: from === undefined ? { tag: 'empty' } : { tag: 'schemaDatamodel', ...schemaFile(from) },
      to: { tag: 'schemaDatamodel', ...schemaFile(to) },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === DIFFERENT ? (stdout ?? '') : '';
  });
}

const DIFFERENT = 2;

function schemaFile(content: string) {
  return { files: [{ path: 'schema.prisma', content }] };
}

/**
 * Runs `work` with Prisma's schema engine, connected to a database. It is the WebAssembly build: the native one, which
 * Prisma's own commands use, is a download from a host that many networks cannot reach.
 */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}
