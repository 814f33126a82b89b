import { defineConfig } from 'prisma/config';

// `prisma generate` runs wholly in WebAssembly, yet Prisma's command line first tries to download a native schema
// engine. Naming any executable as that engine keeps the command offline. It must be set for `generate` only: with
// it, `prisma migrate deploy` would exit 0 and apply nothing.
if (process.argv.includes('generate')) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
