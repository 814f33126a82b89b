import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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
    // What the browser showed, for whoever wants to see it or has to find out why it failed.
    onTestFinished(async () => {
      if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
      await page.close();
    });
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(gateway.url)) foreign.push(request.url());
    });
    const refusedByPolicy: string[] = [];
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) refusedByPolicy.push(message.text());
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
    expect(foreign).toEqual([]);
    expect(refusedByPolicy).toEqual([]);
    const injected = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.head.append(script);
      return 'injected' in window;
    });
    expect(injected).toBe(false);
  });
});

/** By keyboard: a tab that is still sliding into its place takes a click for the start of a drag. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab-button', { hasText: name }).press('Enter');
}

/**
 * Presses the button and waits until the result shows the text; answers what is in sight of the result. Right after a
 * change of tabs GraphiQL may still have the other tab's operation in mind, says so, and wants the button again.
 */
async function run(page: Page, text: string): Promise<string> {
  const result = page.locator('.result-window');
  const stale = result.getByText('Cannot infer operation').first();
  const wanted = result.getByText(text).first();
  do {
    await page.click('.graphiql-execute-button');
    await wanted.or(stale).first().waitFor();
  } while (await stale.isVisible());
  await wanted.waitFor();
  return ((await result.textContent()) ?? '').replaceAll('\u00a0', ' ');
}

/** Replaces what the variables editor holds. */
async function setVariables(page: Page, variables: object): Promise<void> {
  await page.locator('.graphiql-editor-tools button[data-name="variables"]').click();
  await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(JSON.stringify(variables));
  // The editor closes quotes and brackets by itself: what it added is behind the caret.
  await page.keyboard.press('ControlOrMeta+Shift+End');
  await page.keyboard.press('Delete');
}
