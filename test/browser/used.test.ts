import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moving } from '../setup/acts.ts';
import { browserPath, faultsOf, screenshot } from '../setup/browser.ts';
import { sandboxInBrowser } from '../setup/browser-sandbox.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';
import { guidePrograms } from '../setup/guides.ts';
import { labOf } from '../setup/lab-page.ts';
import { startPrefixProxy } from '../setup/prefix-proxy.ts';

/**
 * Follows a newcomer's steps on a sandbox that others have used for a day, behind a proxy that serves it under /pay.
 * The sample customers are frozen, limited or rejected, other customers have no money or are deleted, and there are
 * twenty endpoints and thousands of payments.
 */

const payments = Number(process.env.USED_PAYMENTS ?? 1_000);

describe.skipIf(browserPath === undefined)('on a sandbox that others have used', () => {
  const started = sandboxInBrowser({ SANDBOX_PACE_MS: '300' });
  let proxy: Awaited<ReturnType<typeof startPrefixProxy>>;
  beforeAll(async () => {
    proxy = await startPrefixProxy(started.gateway.url, '/pay');
    await useUp(started);
  });
  afterAll(() => proxy?.close());

  test('the first payment takes one click, and every tab of the lab works', async () => {
    const page = await started.open();
    const failed: string[] = [];
    page.on(
      'response',
      (response) => response.status() >= 400 && failed.push(`${response.status()} ${response.url()}`),
    );
    await page.goto(`${proxy.url}/`);
    // The front page counts both incoming and outgoing completed payments.
    const completed = page.locator('#statuses [data-status=COMPLETED] strong');
    const counted = '{ transactions(filter: { status: [COMPLETED] }) { totalCount } }';
    await expect.poll(async () => (await started.sandbox.ask(counted)).transactions.totalCount).toBe(payments + 1);
    await expect.poll(() => completed.textContent()).toBe(String(payments + 1));
    await page.getByRole('link', { name: /^Lab/ }).click();
    const lab = labOf(page);
    // The tab list is a single stop for the Tab key. The arrow keys move between the tabs.
    const openTab = page.getByRole('tab', { selected: true });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.locator('.graphiql-execute-button').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Payments');
    await openTab.focus();
    for (const [key, title] of [
      ['ArrowRight', 'Watch'],
      ['End', 'Remove the endpoint'],
      ['ArrowRight', 'First payment'],
    ] as const) {
      await page.keyboard.press(key);
      await lab.isOpen(title);
      await expect.poll(() => openTab.evaluate((tab) => tab === document.activeElement)).toBe(true);
    }
    await lab.eventOf(await lab.run('Transaction:'), 'COMPLETED').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Next: Watch →');
    await page.keyboard.press('Enter');
    await lab.run('"COMPLETED"');
    for (const [tab, text, status] of [
      ['Timeline', '"final"'],
      ['Look around', 'InternalAccount:'],
      ['Add a beneficiary', 'displayName'],
      ['Quote', 'totalReceivingAmount'],
      ['Execute', '"replayed": false', 'COMPLETED'],
      ['Fund in real time: quote', '"reference"'],
      ['Fund in real time: deposit', 'Transaction:'],
      ['UMA: look up', 'Lookup:'],
      ['UMA: pay', 'totalReceivingAmount'],
      ['Fail on purpose', 'Transaction:', 'FAILED'],
      ['Webhooks', 'delete one first'],
      ['Deliveries', 'WebhookEndpoint:'],
      ['Remove the endpoint', '"replayed": false'],
    ] as const) {
      await lab.open(tab);
      const answer = await lab.run(text);
      if (status) await lab.eventOf(answer, status).waitFor();
    }
    await page.getByText('whoever registered it').waitFor();
    // Although the Look around tab has shown another customer with money, the payer is still the sample customer.
    await lab.open('Limit payments');
    const { customerId } = await payerOf(started.gateway.url);
    await page.locator('.lab-variables').getByText(customerId).waitFor();
    await started.sandbox.succeed('sandboxSetKycStatus', { customerId, kycStatus: 'REJECTED' });
    await lab.events
      .filter({ hasText: /KYC status/ })
      .first()
      .waitFor();
    await lab.open('Webhooks');
    await lab.run('"secret"');
    expect(failed).toEqual([]);
  });

  test('the wallet pays, and its streams are live', async () => {
    const page = await started.open(`${proxy.url}/wallet`, { viewport: { width: 390, height: 844 } });
    await page.getByText('live', { exact: true }).waitFor();
    const pay = page.getByRole('region', { name: 'Pay' });
    await pay.getByLabel('Amount').fill('25.00');
    await pay.getByRole('button', { name: 'Get a quote' }).click();
    await pay.getByRole('button', { name: /^Pay / }).click();
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
  });

  test('both guides work each time they are followed, and leave no endpoint behind', async () => {
    const { runGuide, remove } = await guidePrograms();
    const { customerId: customer, destinationAccountId: payee } = await payerOf(started.gateway.url);
    const reader = { url: started.gateway.url, credentials: 'sandbox:sandbox', customer, payee };
    const before = await endpointsOf(started.sandbox);
    for (let time = 0; time < 3; time += 1)
      expect(await runGuide('docs/guides/server.md', reader)).toMatch(/\nTransaction:[\w-]+ is COMPLETED\n$/);
    expect((await endpointsOf(started.sandbox)).filter((id) => !before.includes(id))).toEqual([]);
    expect(await runGuide('docs/guides/web.md', reader)).toMatch(/COMPLETED\n$/);
    await remove();
  });

  test('no link on any page is broken or leads outside the prefix', async () => {
    const wanted = [`${proxy.url}/`];
    const { authorization } = started.sandbox;
    for (const address of wanted) {
      const response = await fetch(address, { headers: { accept: 'text/html', authorization } });
      expect([address, response.status]).toEqual([address, 200]);
      const text = await response.text();
      expect(text, address).not.toContain('127.0.0.1:4000');
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
      for (const [, link = ''] of text.matchAll(/(?:href|src)="([^"#]+)/g)) {
        const to = new URL(link.replaceAll('&amp;', '&'), address);
        if (to.origin !== new URL(proxy.url).origin) continue;
        expect(to.pathname, `${address} to ${link}`).toMatch(/^\/pay\//);
        if (!wanted.includes(to.href)) wanted.push(to.href);
      }
    }
    expect(wanted.length).toBeGreaterThan(60);
    // Lines of code fit the column they are in. Only drawings may scroll, because they cannot wrap.
    const page = await started.open(undefined, { viewport: { width: 1440, height: 900 } });
    for (const address of wanted.filter((one) => one.endsWith('.md'))) {
      await page.goto(address);
      const wide = await page
        .locator('pre:not(.drawing)')
        .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
      expect(wide, address).toEqual([]);
    }
    const openapi = `${proxy.url}/2025-10-13/openapi.json`;
    const { servers } = (await (await fetch(openapi)).json()) as Data;
    expect(new URL(servers[0].url, openapi).href).toBe(`${proxy.url}/2025-10-13`);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('axe finds no faults, and no page overflows, in %s mode at %i px', async (colorScheme, width) => {
    // Without reduced motion, numbers fade in, and their contrast is too low for a moment.
    const viewport = { width, height: 844 };
    const page = await started.open(undefined, { colorScheme, reducedMotion: 'reduce', viewport });
    const found: Record<string, unknown> = {};
    for (const [path, isReady] of pages) {
      await page.goto(`${proxy.url}${path}`);
      await isReady(page);
      await screenshot(page, `page${path.replaceAll('/', '-')}-${colorScheme}-${width}`);
      const faults = await faultsOf(page);
      const wide = await page.evaluate(() =>
        Math.max(
          document.documentElement.scrollWidth,
          // Tables with four or more columns scroll sideways.
          ...[...document.querySelectorAll('table:not(:has(td:nth-child(4)))')].map(
            (table) => table.getBoundingClientRect().left + table.scrollWidth,
          ),
        ),
      );
      if (faults.length > 0 || wide > width) found[path] = { faults, wide };
    }
    expect(found).toEqual({});
  });
});

const hasHeading = (page: Page) => page.locator('h1').first().waitFor({ state: 'attached' });

/** Every kind of page, each with a function that waits until the page is ready. */
const pages: readonly (readonly [path: string, isReady: (page: Page) => Promise<unknown>])[] = [
  ['/', async (page) => page.locator('#statuses:not([aria-busy])').waitFor()],
  ['/lab', async (page) => page.locator('.graphiql-execute-button').waitFor()],
  ['/wallet', async (page) => page.getByText('live', { exact: true }).waitFor()],
  ['/2025-10-13/docs', async (page) => page.locator('.opblock').first().waitFor()],
  ['/docs', hasHeading],
  ['/docs?q=stream', hasHeading],
  ['/docs/docs/streams.md', hasHeading],
  ['/docs/docs/settings.md', hasHeading],
  ['/docs/schema.graphql', hasHeading],
  ['/nothing/here', hasHeading],
];

/** The customer and the payee that the lab shows. */
async function payerOf(url: string): Promise<Data> {
  const lab = await (await fetch(`${url}/lab`, { headers: { accept: 'text/html' } })).text();
  return JSON.parse(/id="settings">(.*?)<\/script>/s.exec(lab)?.[1] ?? '{}').sandbox;
}

const endpointsOf = async (platform: TestPlatform): Promise<string[]> =>
  (await platform.ask('{ webhookEndpoints { edges { node { id } } } }')).webhookEndpoints.edges.map(
    ({ node }: Data) => node.id,
  );

/** Uses a sandbox as other people would over a day. */
async function useUp({ sandbox, ops }: ReturnType<typeof sandboxInBrowser>): Promise<void> {
  const { customerId, sourceAccountId } = await payerOf(sandbox.url);
  const [payee = ''] = await sandbox.idsIn('accounts', { customerId, kind: 'EXTERNAL', currency: 'USD' });
  const pay = () => sandbox.succeed('transferOut', moving(sourceAccountId, payee, 100));
  for (let made = 0; made < payments; made += 10) await Promise.all(Array.from({ length: 10 }, pay));
  await sandbox.succeed('transferIn', moving(payee, sourceAccountId, 100));
  for (let added = 0; ; added += 1) {
    const url = `http://127.0.0.1:${5_000 + added}/webhooks`;
    if ((await sandbox.act('createWebhookEndpoint', { url })).code === 'CONFLICT') break;
  }
  await ops('customer', 'freeze', customerId, '--by', 'a person', '--reason', 'for a day');
  const limited = await payerOf(sandbox.url);
  await sandbox.succeed('setPolicy', { subjectId: limited.customerId, limits: [{ period: 'DAY', payments: 1 }] });
  const { customerId: rejected } = await payerOf(sandbox.url);
  await sandbox.succeed('sandboxSetKycStatus', { customerId: rejected, kycStatus: 'REJECTED' });
  // Afterwards, no sample customer is among the newest, and the newest customer who can pay is not a sample customer.
  await payerOf(sandbox.url);
  for (let number = 0; number < 20; number += 1) await sandbox.newCustomer();
  await sandbox.succeed('deleteCustomer', { customerId: await sandbox.newCustomer() });
  await sandbox.fund(await sandbox.internalAccount(await sandbox.newCustomer(), 'USD'), 100_000n);
}
