const { readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators } = require('@prisma/internals');
const { deserializeParamGraph, serializeParamGraph } = require('@prisma/param-graph');

// `npm run generate` does what `prisma generate` does, using Prisma's own packages: the package `prisma` would also
// install a studio and a development database, 170 MB. Then it reduces the memory that the client needs.

const client = path.join(__dirname, '../src/infra/database/generated/client/internal');
const runtime = path.join(path.dirname(require.resolve('@prisma/client/package.json')), 'runtime');

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
  const file = path.join(client, 'class.ts');
  writeFileSync(file, withSparseGraph(withCompilerInFile(readFileSync(file, 'utf8'))));
  deleteOtherCompilers();
}

/** Returns the parts of `text` that `pattern` captures. Throws if there are none, as after an update of Prisma. */
function find(pattern, text) {
  const found = pattern.exec(text);
  if (!found) throw new Error(`${pattern} is not in the client that Prisma generated: see prisma/generate.cjs`);
  return found.slice(1);
}

/** Moves the query compiler to its own file. As a string in a module, it would occupy 9 MB of the heap forever. */
function withCompilerInFile(text) {
  const [load, module] = find(/(const \{ wasm \} = await import\("@prisma\/client\/runtime\/(.+)"\)\s+return .+)/, text);
  const [base64] = find(/"(.+?)"/, readFileSync(path.join(runtime, module), 'utf8'));
  writeFileSync(path.join(client, 'query_compiler.wasm'), Buffer.from(base64, 'base64'));
  const read = `const { readFile } = await import('node:fs/promises')
    return new WebAssembly.Module(await readFile(new URL('query_compiler.wasm', import.meta.url)))`;
  return text.replace(load, () => read);
}

/** If the first index of an object is at least this, V8 stores its elements in a hash table, not in an array. */
const leastSparse = 1_024;

/**
 * Increases the keys in the graph of query fields, which are indices into `strings`. V8 would store smaller keys in
 * almost empty arrays: 24 MB per client.
 */
function withSparseGraph(text) {
  const [list, graph] = find(/strings: JSON\.parse\((".*")\),\s+graph: "(.+)"/, text);
  const { strings, ...rest } = deserializeParamGraph({ strings: JSON.parse(JSON.parse(list)), graph });
  const moved = serializeParamGraph({
    ...rest,
    strings: [...Array(leastSparse).fill(''), ...strings],
    inputNodes: rest.inputNodes.map(moveKeys),
    outputNodes: rest.outputNodes.map(moveKeys),
  });
  return text.replace(list, () => JSON.stringify(JSON.stringify(moved.strings))).replace(graph, () => moved.graph);
}

function moveKeys({ edges }) {
  const moved = Object.entries(edges).map(([key, { enumNameIndex: name, ...edge }]) => [
    Number(key) + leastSparse,
    name === undefined ? edge : { ...edge, enumNameIndex: name + leastSparse },
  ]);
  return { edges: Object.fromEntries(moved) };
}

/** Deletes the query compilers of databases other than Postgres from the installed client: 55 MB. */
function deleteOtherCompilers() {
  const others = readdirSync(runtime).filter((file) => /\.(cockroachdb|mysql|sqlite|sqlserver)\./.test(file));
  for (const file of others) rmSync(path.join(runtime, file));
}

generate();
