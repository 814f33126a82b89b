import path from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { browserPath, startBrowser } from '../setup/browser.ts';
import { app, compile, type InstalledClient, installClient, run } from '../setup/client-package.ts';
import { testGateway } from '../setup/gateway.ts';

/** Runs the packed client package on each Node version that it supports (installed from npm), and in Chromium. */

const versions = ['20', '22', '24'];

const t = await testGateway({ CORS_ORIGINS: ['null'] });
const scene = await t.platform.makeScene();

const followed = { status: 'COMPLETED', hooks: 'function', cached: [] };

async function argumentsOfApp(): Promise<string[]> {
  const token = await t.platform.mint({ customerId: scene.customerId, permissions: ['VIEW'] });
  const { id } = await t.platform.pay(scene);
  return [`${t.url}/graphql`, JSON.stringify(token), id];
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

test('an app follows a payment on every version of Node that the package supports, and in Chromium', async () => {
  const client = await installClient();
  expect(await compile(client, 'app', { 'app.ts': app })).toEqual([]);
  for (const version of versions) {
    await run('npm', ['install', `node@${version}`, 'ws', '--no-audit', '--no-fund'], { cwd: client.folder });
    const node = path.join(client.folder, 'node_modules/node/bin/node');
    expect((await run(node, ['--version'])).stdout).toMatch(new RegExp(`^v${version}\\.`));
    const { stdout } = await run(node, ['app/app.js', ...(await argumentsOfApp())], { cwd: client.folder });
    expect(JSON.parse(stdout)).toEqual(followed);
  }
  if (browserPath !== undefined) expect(await inChromium(client)).toEqual(followed);
});
