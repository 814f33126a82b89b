import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, type SqlQuery } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';

/** Returns the SQL that makes a database match a Prisma schema, as `prisma migrate diff` writes it. */
export async function schemaDiff(databaseUrl: string, schema: string): Promise<string> {
  const files = [{ path: 'schema.prisma', content: schema }];
  return withSchemaEngine(databaseUrl, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === DIFFERENT ? (stdout ?? '') : '';
  });
}

const DIFFERENT = 2;

/** Runs `work` with the WebAssembly build of Prisma's schema engine. Many networks block the native one's download. */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const adapter = bindMigrationAwareSqlAdapterFactory(new CatalogAdapter(pool));
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** The types "char" and "char"[]. The engine reads "char" from the catalog; adapter-pg knows only "char"[]. */
const [CHAR, CHAR_ARRAY] = [18, 1002];

class CatalogAdapter extends PrismaPg {
  constructor(pool: pg.Pool) {
    const send = pool.query.bind(pool);
    const query = async (text: pg.QueryArrayConfig) => {
      const result = await send(text);
      for (const field of result.fields ?? []) if (field.dataTypeID === CHAR) field.dataTypeID = CHAR_ARRAY;
      return result;
    };
    super(Object.assign(pool, { query }));
  }

  override async connect() {
    const adapter = await super.connect();
    const read = adapter.queryRaw.bind(adapter);
    const { Character, CharacterArray } = ColumnTypeEnum;
    adapter.queryRaw = async (query: SqlQuery) => {
      const { columnTypes, ...result } = await read(query);
      return { ...result, columnTypes: columnTypes.map((type) => (type === CharacterArray ? Character : type)) };
    };
    return adapter;
  }
}
