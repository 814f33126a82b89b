import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from '../setup/child-gateway.ts';

const executablePath = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((candidate) => candidate !== undefined && existsSync(candidate));

/** No background chatter: whatever the browser asks of the network is what the page asks. */
const browserFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describe.skipIf(executablePath === undefined)('GraphiQL in a browser', () => {
  let gateway: ChildGateway;
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  let browser: Browser;

  beforeAll(async () => {
    data = await temporaryDataDirectory();
    gateway = await startChildGateway({ DATA_DIR: data.path, SANDBOX_PACE_MS: '300' });
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: browserFlags });
  });
  afterAll(async () => {
    await browser?.close();
    expect(await gateway?.end('SIGINT')).toBe(0);
    await data?.remove();
  });

  test('runs the first payment in its tabs, already authenticated, without asking anything of another host', async () => {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(gateway.url)) foreign.push(request.url());
    });
    await page.goto(`${gateway.url}/graphql`);
    await page.waitForSelector('.graphiql-execute-button');

    expect(await run(page, 'Sample Person')).toContain('Sample Company Inc.');

    await openTab(page, 'Quote');
    const quoted = await run(page, 'totalReceivingAmount');
    const quoteId = /Quote:[0-9a-f-]{36}/.exec(quoted)?.[0];
    const transactionId = /Transaction:[0-9a-f-]{36}/.exec(quoted)?.[0];
    expect(quoteId).toBeDefined();

    await openTab(page, 'Execute');
    await setVariables(page, { quote: quoteId });
    expect(await run(page, 'PROCESSING')).not.toContain('code');

    await openTab(page, 'Follow');
    await setVariables(page, { transaction: transactionId });
    expect(await run(page, 'COMPLETED')).toContain('"terminal": true');
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    expect(foreign).toEqual([]);
    await page.close();
  });
});

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).click();
}

/** Presses the button and waits until the result shows the text; answers what is in sight of the result. */
async function run(page: Page, text: string): Promise<string> {
  await page.click('.graphiql-execute-button');
  const result = page.locator('.result-window');
  await result.getByText(text).first().waitFor();
  return ((await result.textContent()) ?? '').replaceAll('\u00a0', ' ');
}

/** Replaces what the variables editor holds. */
async function setVariables(page: Page, variables: object): Promise<void> {
  await page.getByRole('button', { name: 'Variables' }).click();
  const editor = page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').first();
  await editor.click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(JSON.stringify(variables));
}
