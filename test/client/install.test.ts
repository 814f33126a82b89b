import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { mint, pay } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

/** The client package as a user gets it: packed, installed by npm into an empty project, compiled and run there. */

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const t = await testGateway();
const scene = await makeScene(t.platform);

/** The pieces of TypeScript of the package's page. */
const snippets = [
  ...readFileSync(path.join(root, 'src/apps/client/README.md'), 'utf8').matchAll(/^```(tsx?)\n(.*?)^```$/gms),
];

/** The other packages of an app: the libraries that the client supports, and their types. */
const beside = [
  '@apollo/client',
  '@urql/core',
  '@urql/exchange-graphcache',
  'graphql',
  'graphql-ws',
  'react',
  'relay-runtime',
  'rxjs',
];
const types = ['@types/react', '@types/relay-runtime', 'typescript'];

test('npm installs the packed package, every piece of its page compiles in a strict app, and plain JavaScript follows a payment', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run(process.execPath, [path.join(root, 'src/apps/client/build/package.ts')]);
  const { stdout: packed } = await run('npm', ['pack', path.join(root, 'dist/client'), '--json', '--silent'], {
    cwd: folder,
  });
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  expect(files.map((file) => file.path).filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);

  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const versions = { ...manifest.devDependencies, ...manifest.optionalDependencies, ...manifest.dependencies };
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  const named = [...beside, ...types].map((name) => `${name}@${versions[name]}`);
  await run('npm', ['install', `./${filename}`, ...named, '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
  });

  await writeFile(path.join(folder, 'app.ts'), app);
  for (const [at, [, kind, code = '']] of snippets.entries())
    await writeFile(path.join(folder, `page-${at}.${kind}`), code);
  const compilerOptions = {
    ...{
      target: 'es2022',
      lib: ['es2024', 'dom'],
      module: 'nodenext',
      jsx: 'react-jsx',
      types: [],
      resolveJsonModule: true,
    },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }));
  const compiler = path.join(folder, 'node_modules/typescript/bin/tsc');
  const { stdout: found } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
  // The declarations of some libraries are wrong by themselves under these options.
  const own = /^(?!.*node_modules\/(?!payments-client)).*error TS.*$/gm;
  expect(found.match(own) ?? []).toEqual([]);
  expect(snippets).toHaveLength(5);

  const token = await mint(t.platform, { customerId: scene.customerId, permissions: ['VIEW'] });
  const { id } = await pay(t.platform, scene);
  const { stdout } = await run(process.execPath, ['app.js', `${t.url}/graphql`, JSON.stringify(token), id], {
    cwd: folder,
  });
  expect(JSON.parse(stdout)).toEqual({ status: 'COMPLETED', hooks: 'function', cached: [] });
});

/** An app in TypeScript. A mistake in a variable or a result does not compile. */
const app = `
import { InMemoryCache } from '@apollo/client';
import { openPayments } from 'payments-client';
import { FollowTransaction } from 'payments-client/operations';
import { useTransaction } from 'payments-client/react';
import { apolloCache } from 'payments-client/apollo-cache';

declare const process: { readonly argv: [string, string, string, string, string] };
const [, , url, token, id] = process.argv;
const payments = openPayments({ url, token: async () => JSON.parse(token) });
const cache = new InMemoryCache(apolloCache());
let seen: 'COMPLETED' | undefined;
await payments.follow({
  document: FollowTransaction,
  variables: { id },
  onMessage({ transactionUpdates: { status } }) {
    const known: 'NONE' | typeof status = status;
    if (known === 'COMPLETED') seen = known;
  },
}).done;
// @ts-expect-error: the variable is missing
payments.follow({ document: FollowTransaction, variables: {}, onMessage() {} }).stop();
payments.stop();
console.log(JSON.stringify({
  status: seen,
  hooks: typeof useTransaction,
  cached: Object.keys(cache.extract()),
}));
`;
