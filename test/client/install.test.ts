import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { app, compile, installClient, root, run, scalarApp } from '../setup/client-package.ts';
import { testGateway } from '../setup/gateway.ts';

/** The client package as a user gets it: packed, installed by npm into an empty project, compiled and run there. */

const t = await testGateway();
const scene = await t.platform.makeScene();

/** The TypeScript examples on the package's page. */
const snippets = [
  ...readFileSync(path.join(root, 'src/apps/client/README.md'), 'utf8').matchAll(/^```(tsx?)\n(.*?)^```$/gms),
].map(([, kind = '', code = '']) => ({ kind, code }));

/** The example that changes the types of Apollo Client for a whole app. */
const declares = ({ code }: { readonly code: string }) => code.includes('declare module');

test('npm installs the package and then others, every example on its page compiles in a strict app, and plain JavaScript follows a payment', async () => {
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

  const token = await t.platform.mint({ customerId: scene.customerId, permissions: ['VIEW'] });
  const { id } = await t.platform.pay(scene);
  const { stdout } = await run(process.execPath, ['app/app.js', `${t.url}/graphql`, JSON.stringify(token), id], {
    cwd: client.folder,
  });
  expect(JSON.parse(stdout)).toEqual({ status: 'COMPLETED', hooks: 'function', cached: [] });
});
