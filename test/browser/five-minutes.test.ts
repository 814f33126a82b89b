import type { Page } from 'playwright-core';
import { describe, expect, onTestFailed, test } from 'vitest';
import { browserPath, screenshot } from '../setup/browser.ts';
import { sandboxInBrowser } from '../setup/browser-sandbox.ts';
import { labOf } from '../setup/lab-page.ts';

// Follows docs/guides/first-five-minutes.md step by step, with the mouse. This command takes its screenshots:
// `SCREENSHOTS=docs/pictures npx vitest run test/browser/five-minutes.test.ts`.

describe.skipIf(browserPath === undefined)('in a browser', () => {
  const started = sandboxInBrowser();

  test('a newcomer at the front page pays, watches, cuts the network, makes a payment fail, finds out why, and copies the operation', async () => {
    const context = await started.browser.newContext({ viewport: { width: 1100, height: 760 }, locale: 'en-US' });
    const front = await context.newPage();
    await front.goto(started.gateway.url);
    await front.locator('#statuses:not([aria-busy])').waitFor();
    await screenshot(front, 'five-minutes-front');
    const steps = front.getByRole('region', { name: 'The first five minutes' });
    const height = () => front.evaluate(() => document.documentElement.scrollHeight);
    const heightBefore = await height();
    /** Opens a link on the front page in a new tab, by clicking it with the middle mouse button. */
    const open = async (name: string): Promise<Page> => {
      const [opened] = await Promise.all([
        context.waitForEvent('page'),
        steps.getByRole('link', { name, exact: true }).click({ button: 'middle' }),
      ]);
      return opened;
    };

    const wallet = await open('wallet');
    const pay = wallet.getByRole('region', { name: 'Pay' });
    await wallet.getByText('live', { exact: true }).waitFor();
    onTestFailed(() => screenshot(wallet, 'failed-wallet'));
    await pay.getByLabel('Amount').fill('25.00');
    await pay.getByRole('button', { name: 'Get a quote' }).click();
    await pay.getByRole('timer').waitFor();
    await pay.scrollIntoViewIfNeeded();
    await screenshot(wallet, 'five-minutes-quote');
    await pay.getByRole('button', { name: /^Pay / }).click();
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
    await screenshot(wallet, 'five-minutes-paid');

    const labPage = await open('lab');
    const lab = labOf(labPage);
    await lab.event('Outgoing payment COMPLETED').filter({ hasText: '$25.00' }).waitFor();

    await wallet.bringToFront();
    await wallet.getByRole('button', { name: 'Cut the network' }).click();
    await wallet.getByText('no network').waitFor();
    await labPage.bringToFront();
    await lab.open('Fail on purpose');
    const failed = lab.eventOf(await lab.run('Transaction:'), 'FAILED');
    await failed.waitFor();
    await screenshot(labPage, 'five-minutes-events');

    const history = wallet.getByRole('region', { name: 'History' });
    expect(await history.getByText('FAILED').count()).toBe(0);
    await wallet.bringToFront();
    await wallet.getByRole('button', { name: 'Restore the network' }).click();
    await history.getByText('FAILED').waitFor();
    await wallet.getByText('live', { exact: true }).waitFor();
    await history.getByText('FAILED').click();
    await history.getByText('The money could not be delivered.').waitFor();
    await history.scrollIntoViewIfNeeded();
    await screenshot(wallet, 'five-minutes-resumed');

    await labPage.bringToFront();
    await failed.click();
    await lab.isOpen('Timeline');
    await lab.run('"final"');
    const drawn = labPage.getByRole('figure', { name: 'The payment' });
    await drawn.getByText('OFFRAMP_FAILED').waitFor();
    // The refund returns the whole debit.
    const movements = (await drawn.getByRole('listitem').allTextContents()).filter((text) => text.includes('→'));
    expect(movements).toContain('DebitUSD account → Liquidity$9.92');
    expect(movements).toContain('RefundLiquidity → USD account$9.92');
    await screenshot(labPage, 'five-minutes-timeline');

    const curl = await lab.copied('Copy as curl');
    await screenshot(labPage, 'five-minutes-curl');
    expect(curl).toMatch(/^curl -s http:\/\/127\.0\.0\.1:\d+\/graphql/);
    expect(curl).toContain('Timeline');

    await front.bringToFront();
    // The front page reserves space for the latest status changes, so its height does not change.
    const moved = front.getByRole('list', { name: 'Payments that have moved' });
    await moved.getByText('PROCESSING → FAILED').waitFor();
    expect(await moved.getByRole('listitem').count()).toBe(3);
    expect(await height()).toBe(heightBefore);
    expect(await front.locator('#statuses').textContent()).toContain('0PROCESSING1COMPLETED0REFUNDED1FAILED');
    const ways = front.getByRole('region', { name: 'Where to start' }).getByRole('listitem');
    expect(await ways.getByRole('strong').allTextContents()).toEqual(['Frontend', 'Mobile', 'Server', 'Operator']);
    await steps.getByRole('link', { name: 'with pictures' }).click();
    await front.getByRole('heading', { name: 'The first five minutes' }).waitFor();
    const widths = await front
      .locator('img')
      .evaluateAll((images: HTMLImageElement[]) =>
        Promise.all(images.map((image) => image.decode().then(() => image.naturalWidth))),
      );
    expect(widths).toEqual(Array(7).fill(1100));
    await context.close();
  });
});
