import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startBrowser } from './browser.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from './child-gateway.ts';

/** Starts a sandbox and a browser before the tests of a suite, and stops them afterwards. */
export function sandboxInBrowser(environment: Readonly<Record<string, string>> = {}) {
  const started = {} as { gateway: ChildGateway; browser: Browser; dataDirectory: string };
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
    started.dataDirectory = data.path;
    started.gateway = await startChildGateway({ DATA_DIR: data.path, ...environment });
    started.browser = await startBrowser();
  });
  afterAll(async () => {
    await started.browser?.close();
    expect(await started.gateway?.end('SIGINT')).toBe(0);
    await data?.remove();
  });
  return started;
}
