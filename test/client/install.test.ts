import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { browserPath, startBrowser } from '../setup/browser.ts';
import { testGateway } from '../setup/gateway.ts';

/**
 * Tests the client package as users get it, packed and then installed by npm into an empty project. The soak also tests
 * it in Chromium and on the other supported versions of Node, which are installed from npm.
 */

const t = await testGateway({ CORS_ORIGINS: ['null'] });
const scene = await t.platform.makeScene();
const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** An app's other packages: the libraries that the client supports, and their types. */
const beside = [
  ...['@apollo/client', '@urql/core', '@urql/exchange-graphcache', 'graphql', 'graphql-ws'],
  ...['react', 'relay-runtime', 'rxjs'],
];
const types = ['@types/react', '@types/relay-runtime', 'typescript'];

interface InstalledClient {
  readonly folder: string;
  readonly files: readonly string[];
  readonly output: string;
}

/** Builds the client and installs it, together with an app's libraries, for the duration of the test. */
async function installClient(): Promise<InstalledClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { stdout: output } = await run(process.execPath, [path.join(root, 'src/apps/client/build/package.ts')]);
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const versions = { ...manifest.devDependencies, ...manifest.optionalDependencies, ...manifest.dependencies };
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  const named = [...beside, ...types].map((name) => `${name}@${versions[name]}`);
  // First runs the command from the package's README, and then installs the app's other packages.
  const page = readFileSync(path.join(root, 'src/apps/client/README.md'), 'utf8');
  const [, own = ''] = /^ {4}npm install (.*)$/m.exec(page) ?? [];
  for (const packages of [own.replace('…', root).split(' '), named])
    await run('npm', ['install', ...packages, '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder });
  const files = await readdir(path.join(folder, 'node_modules/payments-client'), { recursive: true });
  return { folder, files, output };
}

/** Compiles a program with strict options. Ignores errors in other libraries' declarations, because some are wrong. */
async function compile(
  { folder }: InstalledClient,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const program = path.join(folder, name);
  await mkdir(program);
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(program, file), text);
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2024', 'dom'], module: 'nodenext', jsx: 'react-jsx', types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    resolveJsonModule: true,
  };
  await writeFile(path.join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const compiler = path.join(folder, 'node_modules/typescript/bin/tsc');
  const { stdout: found } = await run(process.execPath, [compiler, '-p', program]).catch((error) => error);
  return found.match(/^(?!.*node_modules\/(?!payments-client)).*error TS.*$/gm) ?? [];
}

/** An app in TypeScript. It does not compile if a variable or a result has the wrong type. */
const app = `
import { InMemoryCache } from '@apollo/client';
import { openPayments } from 'payments-client';
import { FollowTransaction } from 'payments-client/operations';
import { useTransaction } from 'payments-client/react';
import { apolloCache } from 'payments-client/apollo-cache';

declare const process: { readonly argv: [string, string, string, string, string] };
const [, , url, token, id] = process.argv;
// Node 20 has no built-in WebSocket.
const webSocketImpl = typeof WebSocket === 'undefined' ? (await import('ws' as string)).WebSocket : undefined;
const payments = openPayments({ url, token: async () => JSON.parse(token), webSocketImpl });
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

/** An app whose Apollo cache parses scalars. Results and variables have the types that the app declares. */
const scalarApp = `
import { ApolloClient, ApolloLink, InMemoryCache } from '@apollo/client';
import { apolloScalars } from 'payments-client/apollo-scalars';
import { Transactions } from 'payments-client/documents';

const client = new ApolloClient({ cache: new InMemoryCache(apolloScalars()), link: ApolloLink.empty() });
const { data } = await client.query({ query: Transactions, variables: { filter: { createdAfter: new Date(0) } } });
const [edge] = data?.transactions.edges ?? [];
export const amount: bigint | undefined = edge?.node.sentAmount?.amount;
export const at: Date | undefined = edge?.node.createdAt;
export const text: string | undefined = edge?.node.sentAmount?.formatted;
// @ts-expect-error: a Date, not a string
export const wrong: string | undefined = edge?.node.createdAt;
`;

/** The TypeScript examples in the package's README. */
const snippets = [
  ...readFileSync(path.join(root, 'src/apps/client/README.md'), 'utf8').matchAll(/^```(tsx?)\n(.*?)^```$/gms),
].map(([, kind = '', code = '']) => ({ kind, code }));

/** Returns whether an example changes Apollo Client's types for a whole app. */
const declares = ({ code }: { readonly code: string }) => code.includes('declare module');

async function argumentsOfApp(): Promise<string[]> {
  const token = await t.platform.mint({ customerId: scene.customerId, permissions: ['VIEW'] });
  const { id } = await t.platform.pay(scene);
  return [`${t.url}/graphql`, JSON.stringify(token), id];
}

async function inNode(node: string, { folder }: InstalledClient): Promise<unknown> {
  return JSON.parse((await run(node, ['app/app.js', ...(await argumentsOfApp())], { cwd: folder })).stdout);
}

async function inChromium({ folder }: InstalledClient): Promise<unknown> {
  const { outputFiles } = await build({
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022', external: ['ws'] },
    entryPoints: [path.join(folder, 'app/app.js')],
  });
  const browser = await startBrowser();
  const page = await browser.newPage();
  const printed = page.waitForEvent('console', (message) => message.text().startsWith('{'));
  const argv = JSON.stringify(['', '', ...(await argumentsOfApp())]);
  const content = `globalThis.process = { env: {}, argv: ${argv} };\n${outputFiles[0]?.text}`;
  await page.addScriptTag({ type: 'module', content });
  const text = (await printed).text();
  await browser.close();
  return JSON.parse(text);
}

test('npm installs the package alongside an app’s libraries, every example in its README compiles in a strict app, and plain JavaScript can use it', async () => {
  const client = await installClient();
  expect(client.output).toBe(`packed ${path.join(root, 'dist/payments-client.tgz')}\n`);
  expect(client.files.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);

  const pages = snippets.filter((one) => !declares(one)).map(({ kind, code }, at) => [`page-${at}.${kind}`, code]);
  expect(await compile(client, 'app', { 'app.ts': app, ...Object.fromEntries(pages) })).toEqual([]);
  const [declaring, ...others] = snippets.filter(declares);
  const scalars = { 'page.ts': declaring?.code ?? '', 'app.ts': scalarApp };
  expect(await compile(client, 'scalars', scalars)).toEqual([]);
  expect(await compile(client, 'declaring', { 'page.ts': scalars['page.ts'] })).toEqual([]);
  expect([pages.length, others.length]).toEqual([5, 0]);

  const followed = { status: 'COMPLETED', hooks: 'function', cached: [] };
  expect(await inNode(process.execPath, client)).toEqual(followed);
  if (process.env.CLIENT_RUNTIMES !== 'all') return;
  for (const version of ['20', '22', '24']) {
    await run('npm', ['install', `node@${version}`, 'ws', '--no-audit', '--no-fund'], { cwd: client.folder });
    const node = path.join(client.folder, 'node_modules/node/bin/node');
    expect((await run(node, ['--version'])).stdout).toMatch(new RegExp(`^v${version}\\.`));
    expect(await inNode(node, client)).toEqual(followed);
  }
  if (browserPath !== undefined) expect(await inChromium(client)).toEqual(followed);
});
