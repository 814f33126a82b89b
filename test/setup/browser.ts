import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The browser for tests, if one is installed. Without it, the tests that need it are skipped. */
export const browserPath = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((candidate) => candidate !== undefined && existsSync(candidate));

/** Switches that turn off background traffic, so that all of the browser's requests come from the page. */
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath ?? '', args });
}

/** Stores a screenshot of a page if SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string, options: { readonly fullPage?: true } = {}): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns the accessibility violations that axe finds on the page: the rules, and the elements that violate them. */
export async function faultsOf(page: Page): Promise<string[]> {
  // The page's policy forbids other scripts, so axe runs through the debugger.
  const session = await page.context().newCDPSession(page);
  const expression = `${axe}; axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;
  const { result } = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  await session.detach();
  return result.value as string[];
}
