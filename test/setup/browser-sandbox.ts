import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { screenshot, startBrowser } from './browser.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from './child-gateway.ts';
import { connect, type Data, type TestPlatform } from './gateway.ts';
import { askOps } from './ops.ts';

interface Started {
  gateway: ChildGateway;
  browser: Browser;
  sandbox: TestPlatform;
  ops: (...args: string[]) => Promise<Data>;
  /** Opens an address, a path in the sandbox, or an empty page. The page is closed at the end of the test. */
  open: (address?: string, options?: BrowserContextOptions) => Promise<Page>;
}

/** Starts a sandbox and a browser before the tests of a suite, and stops them afterwards. */
export function sandboxInBrowser(environment: Readonly<Record<string, string>> = {}) {
  const started = {} as Started;
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
    started.gateway = await startChildGateway({ DATA_DIR: data.path, ...environment });
    started.sandbox = connect(started.gateway.url, '', `Basic ${btoa('sandbox:sandbox')}`);
    started.ops = (...args) => askOps(undefined, args, { DATA_DIR: data.path });
    started.browser = await startBrowser();
    started.open = async (address, options = { viewport: { width: 1400, height: 900 } }) => {
      const page = await started.browser.newPage({ locale: 'en-US', ...options });
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') await screenshot(page, `failed-${task.id}`, { fullPage: true });
        // Every open wallet rereads its lists after each payment, so many open wallets would exceed the request limit.
        await page.close();
      });
      if (address !== undefined) await page.goto(new URL(address, started.gateway.url).href);
      return page;
    };
  });
  afterAll(async () => {
    await started.browser?.close();
    expect(await started.gateway?.end('SIGINT')).toBe(0);
    await data?.remove();
  });
  return started;
}
