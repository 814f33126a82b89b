import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startBrowser } from './browser.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from './child-gateway.ts';
import { connect, type Data, type TestPlatform } from './gateway.ts';
import { askOps } from './ops.ts';

interface Started {
  gateway: ChildGateway;
  browser: Browser;
  sandbox: TestPlatform;
  ops: (...args: string[]) => Promise<Data>;
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
  });
  afterAll(async () => {
    await started.browser?.close();
    expect(await started.gateway?.end('SIGINT')).toBe(0);
    await data?.remove();
  });
  return started;
}
