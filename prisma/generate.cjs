const { readdirSync, rmSync } = require('node:fs');
const path = require('node:path');
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators } = require('@prisma/internals');

// `npm run generate` does what `prisma generate` does, with Prisma's own packages for it. The package `prisma` would
// bring a studio and a development database besides, which together weigh 170 MB.

async function generate() {
  const generators = await getGenerators({
    schemaPath: path.join(__dirname, 'schema.prisma'),
    registry: { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } },
    cliCommand: 'npm run generate',
  });
  for (const generator of generators) {
    await generator.generate();
    generator.stop();
  }
}

/** Deletes the query compilers of databases other than Postgres from the installed client: 55 MB. */
function deleteOtherCompilers() {
  const runtime = path.join(path.dirname(require.resolve('@prisma/client/package.json')), 'runtime');
  const others = readdirSync(runtime).filter((file) => /\.(cockroachdb|mysql|sqlite|sqlserver)\./.test(file));
  for (const file of others) rmSync(path.join(runtime, file));
}

generate();
deleteOtherCompilers();
