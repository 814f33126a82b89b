import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildSchema, introspectionFromSchema } from 'graphql';
import own from '../../../../package.json' with { type: 'json' };

// `npm run client:build`: builds the client package (JavaScript, types, schema) and packs it into a file in dist.

const root = path.resolve(import.meta.dirname, '../../../..');
const folder = path.join(root, 'dist/client');

await rm(folder, { recursive: true, force: true });
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', path.join(import.meta.dirname, 'tsconfig.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const modules = (await readdir(folder))
  .filter((name) => name.endsWith('.js'))
  .map((name) => path.basename(name, '.js'));
const generated = ['operations', 'hashes', 'documents', 'schema-facts'];
const entry = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.js` });
const versions: Readonly<Record<string, string>> = {
  ...own.devDependencies,
  ...own.optionalDependencies,
  ...own.dependencies,
};
/** Returns the range of versions that are compatible with the version used in the tests. */
const compatible = (name: string) => {
  if (!versions[name]) throw new Error(`package.json has no ${name}`);
  return `^${versions[name]}`;
};
const optional = ['@apollo/client', '@urql/core', '@urql/exchange-graphcache', 'react', 'relay-runtime', 'rxjs'];

const manifest = {
  name: 'payments-client',
  version: own.version,
  description:
    'A client for the payments gateway: streams that resume, tokens that renew themselves, typed operations, cache settings',
  license: own.license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.3' },
  exports: {
    '.': entry('payments'),
    ...Object.fromEntries(generated.map((name) => [`./${name}`, entry(`generated/${name}`)])),
    ...Object.fromEntries(modules.map((name) => [`./${name}`, entry(name)])),
    './schema.graphql': './schema.graphql',
    './introspection.json': './introspection.json',
    './persisted-documents.json': './persisted-documents.json',
    './package.json': './package.json',
  },
  dependencies: { '@graphql-typed-document-node/core': compatible('@graphql-typed-document-node/core') },
  peerDependencies: Object.fromEntries(['graphql', 'graphql-ws', ...optional].map((name) => [name, compatible(name)])),
  peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
};

await mkdir(folder, { recursive: true });
await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
const schema = await readFile(path.join(root, 'schema.graphql'), 'utf8');
await writeFile(path.join(folder, 'schema.graphql'), schema);
await writeFile(
  path.join(folder, 'introspection.json'),
  JSON.stringify(introspectionFromSchema(buildSchema(schema), { descriptions: false })),
);
// The source of each operation, keyed by its hash: the body of POST /trusted-documents.
const [texts, hashes] = await Promise.all(
  ['operations', 'hashes'].map((name) => import(path.join(folder, `generated/${name}.js`))),
);
const manifestOf = Object.entries<string>(hashes).map(([name, hash]) => [hash.replace('sha256:', ''), texts[name]]);
await writeFile(path.join(folder, 'persisted-documents.json'), JSON.stringify(Object.fromEntries(manifestOf), null, 2));
await cp(path.join(root, 'src/apps/client/README.md'), path.join(folder, 'README.md'));
await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
// The folder is packed because npm would later replace an installed folder with a link to it.
const packing = spawnSync('npm', ['pack', folder, '--silent'], { cwd: path.dirname(folder), encoding: 'utf8' });
if (packing.status !== 0) throw new Error(packing.stderr);
const packed = path.join(folder, '../payments-client.tgz');
await rename(path.join(folder, '..', packing.stdout.trim()), packed);
console.log(`packed ${packed}`);
