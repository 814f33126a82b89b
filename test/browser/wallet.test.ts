import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { accountExamples } from '../../src/core/account-examples.ts';
import { accountTypes } from '../../src/core/account-types.ts';
import { moving } from '../setup/acts.ts';
import { browserPath, faultsOf, screenshot } from '../setup/browser.ts';
import { sandboxInBrowser } from '../setup/browser-sandbox.ts';
import type { TestPlatform } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

const phone = { width: 390, height: 844 };

/** Returns the open subscriptions on the page's sockets. */
function openSubscriptions(page: Page): ReadonlySet<unknown> {
  const open = new Set<unknown>();
  page.on('websocket', (socket) => {
    const note = ({ payload }: { payload: string | Buffer }) => {
      const { type, id } = JSON.parse(String(payload)) as { readonly type: string; readonly id?: string };
      if (type === 'subscribe') open.add(id);
      if (type === 'complete' || type === 'error') open.delete(id);
    };
    socket.on('framesent', note);
    socket.on('framereceived', note);
    socket.on('close', () => open.clear());
  });
  // When the page navigates away, its sockets close without an event.
  page.on('framenavigated', () => open.clear());
  return open;
}

describe.skipIf(browserPath === undefined)('the wallet in a browser', () => {
  const started = sandboxInBrowser({ SANDBOX_PACE_MS: '300', PAYMENT_APPROVAL_MS: '60000' });

  /** Opens the wallet for the rest of the test. `quote` requests a quote for an amount, and `quoted` waits for it. */
  async function openWallet(options: BrowserContextOptions = {}) {
    const page = await started.open('/wallet', options);
    const pay = page.getByRole('region', { name: 'Pay' });
    const quote = async (amount: string) => {
      await pay.getByLabel('Amount').fill(amount);
      await pay.getByRole('button', { name: 'Get a quote' }).click();
    };
    const quoted = async (amount: string) => {
      await quote(amount);
      await pay.getByRole('timer').waitFor();
    };
    return { page, pay, history: page.getByRole('region', { name: 'History' }), quote, quoted };
  }

  test('pays, shows the payment’s progress across a network cut, and is accessible on a phone in light and dark mode', async () => {
    const { page, pay, history, quoted } = await openWallet({ viewport: phone, colorScheme: 'light' });
    const subscriptions = openSubscriptions(page);
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !/ERR_|WebSocket/.test(message.text())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(started.gateway.url);
    await page.getByRole('link', { name: /^Wallet/ }).click();
    await page.getByRole('heading', { name: 'Sample Person' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();

    await select(pay, 'From', 'USD account');
    await pay.getByLabel('To').selectOption({ index: 0 });
    await quoted('12.34');
    expect(await pay.getByRole('timer').textContent()).toMatch(/^Good for [45]:\d\d min$/);
    await screenshot(page, 'wallet-quote', { fullPage: true });
    expect(await faultsOf(page)).toEqual([]);

    await pay.getByRole('button', { name: 'Pay $12.34' }).click();
    await pay.getByRole('status').waitFor();
    // StrictMode runs every effect twice. Even so, the wallet has only two streams, and the payment only one.
    await expect.poll(() => subscriptions.size).toBeLessThanOrEqual(3);
    const incoming = await announce(started.sandbox);
    // Once the payment is expanded, the entries below it are also list items with this amount.
    const waiting = history.getByRole('listitem').filter({ hasText: '$7.77' }).first();
    await waiting.getByText('PENDING').waitFor();
    await page.getByRole('button', { name: 'Cut the network' }).click();
    await page.getByText('no network').waitFor();
    await expect.poll(() => subscriptions.size).toBe(0);
    await screenshot(page, 'wallet-cut', { fullPage: true });
    await page.getByRole('button', { name: 'Restore the network' }).click();
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await history.getByText('COMPLETED').first().waitFor();
    await history
      .getByText(/^To \S.* ••••\s\S+/)
      .first()
      .waitFor();
    // Only the entries of the customer's own account are shown, not those of other parties.
    const entries = pay.getByRole('list', { name: 'Entries of your accounts' }).getByRole('listitem');
    expect(await entries.allTextContents()).toEqual(['DebitUSD account-$12.34']);

    // This payment was still pending when the network was cut. The resumed stream shows its outcome.
    expect(await waiting.getByText('PENDING').count()).toBe(1);
    await started.sandbox.succeed('approveTransaction', { transactionId: incoming });
    await waiting.getByText('COMPLETED').waitFor();

    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Statement of USD account' }).click();
    const statement = page.getByRole('dialog', { name: 'Statement of USD account' });
    await statement.getByText('Balance now').waitFor();
    await statement.getByRole('img', { name: 'The balance over time' }).waitFor();
    // The page behind the dialog is dimmed even in dark mode.
    const backdrop = (dialog: Element) => getComputedStyle(dialog, '::backdrop').backgroundColor;
    expect(await statement.evaluate(backdrop)).toBe('rgba(0, 0, 0, 0.6)');
    expect(await statement.getByRole('listitem').first().textContent()).toMatch(/^From .*Deposit.*\$7\.77$/);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const opener = page.getByRole('button', { name: 'Statement of USD account' });
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
    const marker = (row: Element) => getComputedStyle(row.querySelector('summary') as Element, '::before').content;
    expect(await waiting.evaluate(marker)).toBe('"▸" / ""');
    await waiting.click();
    expect(await waiting.evaluate(marker)).toBe('"▾" / ""');
    await waiting.getByRole('figure', { name: 'The payment' }).getByText('USD account').waitFor();
    await screenshot(page, 'wallet-dark', { fullPage: true });
    expect(await faultsOf(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    // The payment's stream ended when the payment did.
    await expect.poll(() => subscriptions.size).toBe(2);
    expect(problems).toEqual([]);
  });

  test('shows how much a policy still allows today, and a payment that waits until somebody else approves it', async () => {
    const { sandbox } = started;
    const customerId = await sampleCustomer(sandbox);
    const usd = (decimal: string) => ({ currency: 'USD', amount: { decimal } });
    const limits = [
      { period: 'DAY', ...usd('100.00') },
      { period: 'DAY', payments: 5 },
      { period: 'PAYMENT', ...usd('100.00') },
    ];
    await sandbox.succeed('setPolicy', { subjectId: customerId, limits, approval: { above: [usd('20.00')] } });
    const { page, pay, history, quote } = await openWallet({ viewport: phone, colorScheme: 'dark' });
    await select(pay, 'From', 'USD account');
    await pay.getByText('$100.00 and 5 payments left today · $100.00 in one payment', { exact: true }).waitFor();
    await pay.getByLabel('To').selectOption({ index: 0 });
    await quote('100.01');
    await pay.getByText('More than your limit allows: $100.00 left today.').waitFor();
    expect(await pay.getByRole('button', { name: 'Pay $100.01' }).isDisabled()).toBe(true);
    await quote('20.01');
    await pay.getByRole('button', { name: 'Pay $20.01' }).waitFor();
    await pay.getByText('The payment will wait until somebody else approves it.').waitFor();
    await pay.getByRole('button', { name: 'Pay $20.01' }).click();
    await pay
      .getByRole('status')
      .filter({ hasText: /^waiting for approval until / })
      .waitFor();
    await pay.getByText(/^Next: approval, due by /).waitFor();
    expect(await pay.locator('.states b').allTextContents()).toEqual(['CREATED']);
    await pay.getByText('$79.99 and 4 payments left today · $100.00 in one payment', { exact: true }).waitFor();
    const waiting = history.getByRole('listitem').filter({ hasText: '$20.01' });
    await waiting.getByText(/waiting for approval/).waitFor();
    // The long status leaves room for the name and the date, which take a line or two each.
    expect((await waiting.boundingBox())?.height).toBeLessThan(120);
    await screenshot(page, 'wallet-limits-phone-dark', { fullPage: true });
    expect(await faultsOf(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1200, height: 900 });
    await screenshot(page, 'wallet-limits', { fullPage: true });
    expect(await faultsOf(page)).toEqual([]);

    const [transactionId] = await sandbox.idsIn('transactions', { status: ['CREATED'] });
    const boss = await sandbox.serverOf('VIEW', 'APPROVE');
    await boss.succeed('approveTransaction', { transactionId });
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
    await pay.getByText('$79.99 and 4 payments left today').waitFor();
    await sandbox.succeed('deletePolicy', { subjectId: customerId });
  });

  test('a payee of every type can be added with details as printed on an invoice, and the form shows every error and warning', async () => {
    const { page, pay } = await openWallet({ locale: 'de-DE' });
    await pay.getByText('New payee').click();
    const form = pay.getByRole('form', { name: 'New payee' });
    // A kind of payee has the same name in the list of payees as in the form.
    const options = form.getByLabel('Where the account is').locator('option');
    await options.filter({ hasText: 'Lightning · BTC' }).waitFor({ state: 'attached' });
    const kinds = await options.allTextContents();
    expect(kinds).toEqual(expect.arrayContaining(['US account · USD', 'Lightning · BTC']));
    const payees = pay.getByLabel('To').locator('optgroup');
    await payees.first().waitFor({ state: 'attached' });
    const groups = await payees.evaluateAll((all) => all.map((one) => one.getAttribute('label')));
    expect(kinds.map((kind) => kind.split(' · ')[0])).toEqual(expect.arrayContaining(groups));
    expect(groups).toContain('US account');
    for (const [type, { taken, refused }] of Object.entries(accountExamples)) {
      await form.getByLabel('Where the account is').selectOption(type);
      for (const [details, isTaken] of [
        ...taken.map((one) => [one, true] as const),
        ...refused.map((one) => [one, false] as const),
      ]) {
        const owner = form.getByLabel('Name of the owner');
        if (await owner.count()) await owner.fill('Ada Muster');
        for (const [name, value] of Object.entries({ ...emptied(type), ...details })) {
          const field = form.locator(`[name="${name}"]`);
          if (await field.evaluate((element) => element.matches('select'))) await field.selectOption(value ?? '');
          else await field.fill(value ?? '');
        }
        const answered = page.waitForResponse((response) => /AddPayee/.test(response.request().postData() ?? ''));
        await form.getByRole('button', { name: 'Add the payee' }).click();
        await answered;
        const said = form.locator('[role=status], [role=alert]');
        await said.first().waitFor();
        const words = (await said.allTextContents()).join(' ');
        if (isTaken)
          expect(words, JSON.stringify(details)).toMatch(
            /^(?:The payee is added\.|You have this payee already: .+\.)(?!.*Outside the sandbox)/,
          );
        // Some addresses with the wrong capitalization are refused only in PRODUCTION.
        else if (words.startsWith('The payee is added.'))
          expect(words, JSON.stringify(details)).toMatch(/[\w)]: Outside the sandbox this account would be refused: /);
        else expect(words, JSON.stringify(details)).toMatch(/the value|needs|already/);
      }
    }
    await screenshot(page, 'payee', { fullPage: true });
  });

  test.each([
    ['en-US', '1,234.56', '$1,234.56'],
    ['de-DE', '1.234,56', '1.234,56\u00a0$'],
    ['fr-FR', '1 234,56', '1\u202f234,56\u00a0$US'],
    ['en-US', '.5', '$0.50'],
    ['de-DE', ',5', '0,50\u00a0$'],
    ['ja-JP', '１２．５', '$12.50'],
    ['en-US', '.', undefined],
    ['en-US', '12,5', undefined],
    ['de-DE', '12.5', undefined],
    ['de-DE', '0.005', undefined],
    ['de-DE', '12,345', undefined],
  ])('in %s, the amount %s is read as people there would read it, or refused', async (locale, typed, paid) => {
    const { pay, quote } = await openWallet({ locale });
    await select(pay, 'From', 'USD account');
    await quote(typed);
    if (paid === undefined)
      expect(await pay.getByRole('alert').textContent()).toMatch(
        /^Write the amount like 1.234[.,]50, with at most 2 decimals\.$/,
      );
    else await pay.getByRole('button', { name: `Pay ${paid}` }).waitFor();
  });

  test('a quote is discarded when it is canceled or the form changes, and the keyboard focus is not lost', async () => {
    const { page, pay, history } = await openWallet();
    const amount = pay.getByLabel('Amount in USD');
    await pay.getByLabel('To').selectOption({ index: 0 });
    await amount.fill('0');
    await amount.evaluate((field) => field.scrollIntoView(false));
    await amount.press('Enter');
    // Amounts in the service's messages use the page's number format.
    await expect.poll(() => pay.getByText('the amount must be at least $0.01.').evaluate(isInView)).toBe(true);
    expect(await amount.getAttribute('aria-invalid')).toBe('true');
    expect(await amount.evaluate(isFocused)).toBe(true);
    await amount.fill('90000000000000.01');
    await amount.press('Enter');
    await pay.getByText('the amount must be at most $90,000,000,000,000.00.').waitFor();
    await select(pay, 'From', 'JPY account');
    await pay.getByLabel('Amount in JPY').fill('1.5');
    await pay.getByLabel('Amount in JPY').press('Enter');
    await pay.getByText('Write the amount like 1,234, without decimals.').waitFor();
    await select(pay, 'From', 'USD account');
    await page.route('**/graphql', (route) => route.abort());
    await amount.fill('1.00');
    await amount.press('Enter');
    await pay.getByText('There is no connection.').waitFor();
    await page.unroute('**/graphql');
    await page.route('**/graphql', (route) => route.fulfill({ status: 503 }));
    await amount.press('Enter');
    await pay.getByText('The service is busy. Please try again.').waitFor();
    await page.unroute('**/graphql');
    await amount.fill('2.00');
    expect(await pay.getByRole('alert').count()).toBe(0);
    await amount.press('Enter');
    await pay.getByRole('button', { name: 'Pay $2.00' }).waitFor();
    await amount.fill('3.00');
    expect(await pay.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    // The response for an amount that has changed in the meantime is not shown.
    const answered = page.waitForResponse((response) => /validateOnly":true/.test(response.request().postData() ?? ''));
    await page.route('**/graphql', async (route) => {
      if (/createQuote/.test(route.request().postData() ?? '')) await amount.fill('4.00');
      await route.continue();
    });
    await amount.press('Enter');
    await (await answered).finished();
    await page.unroute('**/graphql');
    expect(await pay.getByRole('timer').count()).toBe(0);
    await amount.fill('3.00');
    await amount.press('Enter');
    await pay.getByRole('button', { name: 'Cancel' }).press('Enter');
    expect(await pay.getByRole('timer').count()).toBe(0);
    expect(await amount.evaluate(isFocused)).toBe(true);
    await amount.press('Enter');
    await pay.getByRole('button', { name: 'Pay $3.00' }).waitFor();
    await announce(started.sandbox, 778);
    const opened = history.getByRole('listitem').filter({ hasText: '$7.78' });
    await opened.waitFor();
    await page.getByRole('button', { name: 'Cut the network' }).click();
    await pay.getByRole('button', { name: 'Pay $3.00' }).press('Enter');
    await pay.getByRole('alert').filter({ hasText: 'There is no connection.' }).waitFor();
    await opened.locator('summary').click();
    await opened
      .getByRole('alert')
      .filter({ hasText: 'There is no connection. Restore the network to continue.' })
      .waitFor();
    await page.getByRole('button', { name: 'Restore the network' }).click();
    // Messages about the lost connection disappear once it is restored.
    await opened.getByRole('figure', { name: 'The payment' }).waitFor();
    await expect.poll(() => pay.getByRole('alert').count()).toBe(0);
    await pay.getByRole('button', { name: 'Pay $3.00' }).press('Enter');
    await pay.getByRole('figure', { name: 'The payment' }).waitFor();
    expect(await pay.getByRole('alert').count()).toBe(0);
    expect(await pay.locator('.card').evaluate(isFocused)).toBe(true);
  });

  test('a payment that arrives while the network is cut is shown afterwards, even if nothing had happened before', async () => {
    const { page, history } = await openWallet();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cut the network' }).click();
    await announce(started.sandbox, 779);
    await page.getByRole('button', { name: 'Restore the network' }).click();
    await history.getByText('$7.79').waitFor();
  });

  test('the wallet reports a lost connection at once, and everything that failed recovers afterwards', async () => {
    const { page, pay, quote } = await openWallet();
    await page.getByText('live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('no network', { exact: true }).waitFor({ timeout: 1_000 });
    await quote('1.00');
    await pay.getByText('There is no connection.').waitFor();
    await page.getByRole('button', { name: 'Statement of USD account' }).click();
    const statement = page.getByRole('dialog', { name: 'Statement of USD account' });
    await statement.getByText('There is no connection.').waitFor();
    await page.keyboard.press('Escape');
    await pay.getByText('New payee').click();
    await expect.poll(() => pay.getByText('There is no connection.').count()).toBe(2);
    await page.getByRole('button', { name: 'Statement of USD account' }).click();
    await page.context().setOffline(false);
    await statement.getByText('Balance now').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('There is no connection.').count()).toBe(0);

    // If the socket has stayed open, the next successful request shows that the connection is back.
    await page.keyboard.press('Escape');
    await page.route('**/graphql', (route) => route.abort());
    await quote('1.00');
    await pay.getByText('There is no connection.').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Statement of EUR account' }).click();
    await expect.poll(() => page.getByText('There is no connection.').count()).toBe(0);
  });

  test('when a quote expires, the wallet says what to do, and the keyboard focus is not lost', async () => {
    const { page, pay, quote } = await openWallet();
    await page.clock.install();
    await page.reload();
    await quote('2.00');
    const button = pay.getByRole('button', { name: 'Pay $2.00' });
    await button.focus();
    await page.clock.fastForward('05:01');
    await pay.getByRole('alert').filter({ hasText: 'This quote has expired. Get a new one.' }).waitFor();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.evaluate(isFocused)).toBe(true);
  });

  test('on a phone a quote comes into view with its buttons, and all amounts are in the reader’s number format', async () => {
    const { pay, quote } = await openWallet({ viewport: phone, locale: 'de-DE' });
    await select(pay, 'From', 'USD account');
    await pay.getByRole('button', { name: 'Get a quote' }).evaluate((button) => button.scrollIntoView(false));
    await quote('5,00');
    const button = pay.getByRole('button', { name: 'Pay 5,00\u00a0$' });
    await button.waitFor();
    // Several payees may have the same name.
    expect(await pay.getByRole('definition').first().textContent()).toMatch(/^\S.* ••••\u00a0\S+$/);
    expect(await button.evaluate((element) => element.getBoundingClientRect().bottom)).toBeLessThan(phone.height);
    await button.click();
    const entries = pay.getByRole('list', { name: 'Entries of your accounts' });
    expect(await entries.getByRole('listitem').first().textContent()).toMatch(/,\d\d\u00a0\$$/);
    const outcome = pay.getByRole('figure', { name: 'The payment' }).locator('[data-status=COMPLETED]');
    await expect.poll(() => outcome.evaluate(isInView)).toBe(true);
  });

  test('a wallet without payees or without a token says so', async () => {
    const { sandbox } = started;
    const customerId = await sandbox.newCustomer('No Payees');
    const token = await sandbox.mint({ customerId, permissions: ['VIEW'], expiresInSeconds: 900 });
    const { page, pay } = await openWallet();
    await page.route('**/wallet/token', (route) => route.fulfill({ json: token }));
    await page.reload();
    await page.getByRole('heading', { name: 'No Payees' }).waitFor();
    await pay.getByLabel('To').locator('option', { hasText: 'No payees yet' }).waitFor({ state: 'attached' });
    await page.unroute('**/wallet/token');
    await page.route('**/wallet/token', (route) => route.fulfill({ status: 503 }));
    await page.reload();
    await page.getByText('Signing in failed (503). Please reload the page.').first().waitFor();
  });

  test('a quote that exceeds the balance shows the balance, and cannot be executed', async () => {
    const { pay, quote } = await openWallet();
    await select(pay, 'From', 'EUR account');
    await quote('10,000.01');
    await pay.getByText('The account has only €10,000.00.').waitFor();
    expect(await pay.getByRole('button', { name: /^Pay/ }).isDisabled()).toBe(true);
  });

  test('the wallet says why a payment is refused, with amounts formatted for the reader’s language', async () => {
    const { sandbox } = started;
    const customerId = await sampleCustomer(sandbox);
    const { page, pay, quote, quoted } = await openWallet({ locale: 'de-DE' });
    // The page's streams deliver nothing, so the page does not learn about the payment below.
    await page.routeWebSocket(/graphql/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => /"type":"next"/.test(String(message)) || socket.send(message));
    });
    await page.reload();
    const said = () => pay.getByRole('alert').textContent();
    await select(pay, 'From', 'EUR account');
    await quoted('2.000,00');
    const limits = [{ period: 'DAY', currency: 'EUR', amount: { decimal: '1234.50' } }];
    await sandbox.succeed('setPolicy', { subjectId: customerId, limits });
    await pay.getByRole('button', { name: /^Pay / }).click();
    await expect.poll(said).toBe('More than your limit allows: 1.234,50\u00a0€ left today.');
    await sandbox.succeed('deletePolicy', { subjectId: customerId });

    await quoted('3.000,00');
    const [from, to] = await accountsIn(sandbox, customerId, 'EUR');
    await sandbox.succeed('transferOut', moving(from, to, 8_765_50));
    await pay.getByRole('button', { name: /^Pay / }).click();
    await expect.poll(said).toBe('The account has only 1.234,50\u00a0€.');

    await quoted('1,00');
    await sandbox.succeed('setPolicy', { subjectId: customerId, receiverCountries: ['JP'] });
    await pay.getByRole('button', { name: /^Pay / }).click();
    await expect.poll(said).toBe('Your limits do not allow this payment.');
    // On the next attempt, this message is shown as soon as a quote is requested.
    await quote('2,00');
    await expect.poll(said).toBe('Your limits do not allow this payment.');
    expect(await pay.getByRole('timer').count()).toBe(0);
    await sandbox.succeed('deletePolicy', { subjectId: customerId });

    await select(pay, 'From', 'INR account');
    await quote('5,00');
    await expect.poll(said).toMatch(/must be [\d,]+\u00a0₹ to [\d.]+,00\u00a0₹, not 5,00\u00a0₹\.$/);
  });

  test('after a quote, the payee stays selected even if it is deleted elsewhere', async () => {
    const { sandbox } = started;
    const payee = await newPayee(sandbox, 'Gone Tomorrow', '000456000');
    const { pay, quoted } = await openWallet();
    const chosen = pay.getByLabel('To').locator('option:checked', { hasText: 'Gone Tomorrow' });
    await chosen.waitFor({ state: 'attached' });
    await quoted('1.00');
    await sandbox.succeed('deleteExternalAccount', { accountId: payee });
    await pay.getByRole('button', { name: 'Pay $1.00' }).click();
    await pay.getByText('This payee cannot be paid at the moment.').waitFor();
    await pay.getByRole('button', { name: 'Get a quote' }).click();
    await pay.getByText('This payee cannot be paid at the moment.').waitFor();
    expect(await chosen.count()).toBe(1);
  });

  test('a refund in a statement names the payment that it returns', async () => {
    const payee = await newPayee(started.sandbox, 'Paula Closed', '000457003');
    const { page, pay, quoted } = await openWallet();
    await select(pay, 'To', 'Paula Closed');
    await quoted('1.00');
    await pay.getByRole('button', { name: 'Pay $1.00' }).click();
    await pay.getByRole('status').filter({ hasText: 'FAILED' }).waitFor();
    await started.sandbox.succeed('deleteExternalAccount', { accountId: payee });
    await page.getByRole('button', { name: 'Statement of USD account' }).click();
    const newest = page.getByRole('dialog').getByRole('listitem').first();
    expect(await newest.textContent()).toMatch(/^Refund.*To Paula Closed.*[^-]\$1\.00$/);
  });

  test('even a very long payee name does not make the page wider than a phone', async () => {
    const { sandbox } = started;
    const name = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(4);
    await newPayee(sandbox, name, '000123001');
    const { page, pay, history, quoted } = await openWallet({ viewport: phone });
    await select(pay, 'To', name);
    expect(await isTooWide(page)).toBe(false);
    await quoted('1.00');
    expect(await isTooWide(page)).toBe(false);
    await pay.getByRole('button', { name: 'Pay $1.00' }).click();
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
    await history.getByText(name).first().waitFor();
    expect(await isTooWide(page)).toBe(false);
    await screenshot(page, 'wallet-long-name', { fullPage: true });
  });

  test('a payee that needs exactly one of several details cannot be added with none or two of them', async () => {
    const { page, pay, quoted } = await openWallet();
    await quoted('1.00');
    await page.getByText('New payee').click();
    const form = page.getByRole('form', { name: 'New payee' });
    await form.getByLabel('Where the account is').selectOption('LIGHTNING');
    const add = form.getByRole('button', { name: 'Add the payee' });
    await add.click();
    await form
      .getByRole('alert')
      .filter({ hasText: /^Fill in exactly one of these 3 fields\.$/ })
      .waitFor();
    await form.getByLabel('Lightning address').fill('ada@example.com');
    await form.getByLabel('BOLT 12 offer').fill('lno1pg257enxv4ezqcneype82um50ynhxgrwdajx');
    await add.click();
    expect(await form.getByRole('alert').allTextContents()).toEqual(['Fill in exactly one of these 3 fields.']);
    await form.getByLabel('BOLT 12 offer').fill(' ');
    await form.getByLabel('BOLT 12 offer').press('Enter');
    await form.getByText('The payee is added.').waitFor();
    expect(await page.getByLabel('To').locator('option:checked').textContent()).toBe(
      'BTC a••••@example.com · Lightning wallet',
    );
    // The quote is gone, because it was for another payee.
    expect(await pay.getByRole('timer').count()).toBe(0);
    expect(await add.evaluate(isFocused)).toBe(true);
  });

  test('a payee whose account is still being checked can be chosen as soon as the check has ended', async () => {
    const { page } = await openWallet();
    await page.getByText('live', { exact: true }).waitFor();
    const options = page.getByLabel('To').locator('option');
    await options.first().waitFor({ state: 'attached' });
    for (const added of ['The payee is added.', 'You have this payee already: Ada Waiting •••• 3204.']) {
      const form = await fillPayee(page, 'Ada Waiting', '000123204');
      await form.getByText(added).waitFor();
      await form.getByText('The bank is still checking the account. It can be paid once that is done.').waitFor();
      expect(await options.filter({ hasText: 'Ada Waiting' }).count()).toBe(0);
    }
    await options.filter({ hasText: 'Ada Waiting' }).waitFor({ state: 'attached' });
    expect(await page.getByLabel('To').locator('option:checked').textContent()).toMatch(/· Ada Waiting$/);
  });

  test('the note that a new payee’s account is being reviewed does not disappear after a payment', async () => {
    const { sandbox } = started;
    const { page } = await openWallet();
    await fillPayee(page, 'Ada Reviewed', '000123202');
    const note = page.getByText('The account is being reviewed. It can be paid once that is done.');
    await note.waitFor();
    // After a payment, the payees are read again.
    const read = page.waitForResponse((response) => /PayeePicker/.test(response.request().postData() ?? ''));
    const [from, to] = await accountsIn(sandbox, await sampleCustomer(sandbox), 'EUR');
    await sandbox.succeed('transferOut', moving(from, to, 1));
    await (await read).finished();
    expect(await note.count()).toBe(1);
  });

  test.each([
    ['102', 'The bank knows the owner of this account by another name. Check the name before you pay.'],
    ['103', 'The bank knows the owner of this account as “A. Muster”. Check the name before you pay.'],
  ])(
    'a payee whom the bank knows by another name (%s) is shown with a warning, both when added and before a payment',
    async (suffix, warning) => {
      const { page, pay, quoted } = await openWallet();
      const form = await fillPayee(page, 'Ada Muster', `000123${suffix}`);
      await form.getByText('The payee is added.').waitFor();
      await form.getByText(warning).waitFor();
      await quoted('1.00');
      expect(await pay.locator('.card').getByRole('status').allTextContents()).toEqual([warning]);
      await screenshot(page, `wallet-name-${suffix}`, { fullPage: true });
    },
  );

  test('every payee can be chosen, and stays in the list after a payment', async () => {
    const { sandbox } = started;
    await newPayee(sandbox, 'Ada First', '000345000');
    for (let number = 1; number <= 20; number += 1) await newPayee(sandbox, 'Ada Next', `0003450${number + 10}`);
    const { page, pay, quote } = await openWallet();
    const options = pay.getByLabel('To').locator('option');
    await expect.poll(() => options.count()).toBe(20);
    await pay.getByRole('button', { name: 'More payees' }).click();
    await options.filter({ hasText: 'Ada First' }).waitFor({ state: 'attached' });
    expect(await pay.getByLabel('To').evaluate(isFocused)).toBe(true);
    await select(pay, 'To', 'Ada First');
    const all = await options.count();
    await quote('1.00');
    const read = page.waitForResponse((response) => /PayeePicker/.test(response.request().postData() ?? ''));
    await pay.getByRole('button', { name: 'Pay $1.00' }).click();
    // After a payment, the first page of payees is read again.
    await (await read).finished();
    await pay.getByRole('status').filter({ hasText: 'COMPLETED' }).waitFor();
    expect(await options.count()).toBe(all);
    expect(await pay.getByLabel('To').locator('option:checked').textContent()).toMatch(/· Ada First$/);
  });

  test('a list that was read before the latest change does not hide the change, even if the response arrives afterwards', async () => {
    const { sandbox } = started;
    const { page, pay, history } = await openWallet();
    await page.getByText('live', { exact: true }).waitFor();
    const payees = pay.getByRole('combobox', { name: 'To' });
    await payees.locator('option').first().waitFor({ state: 'attached' });
    const answered = new Set<string>();
    const changed = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      const [, name = ''] = /query (History|PayeePicker)/.exec(route.request().postData() ?? '') ?? [];
      if (name === '' || answered.has(name)) return route.continue();
      const response = await route.fetch();
      answered.add(name);
      await changed.promise;
      await route.fulfill({ response });
    });
    await announce(sandbox, 101);
    await expect.poll(() => answered.size).toBe(2);
    await announce(sandbox, 102);
    await (await fillPayee(page, 'Ada Late', '000345099')).getByText('The payee is added.').waitFor();
    const read = page.waitForResponse((response) => /PayeePicker/.test(response.request().postData() ?? ''));
    changed.resolve();
    await (await read).finished();
    for (const amount of ['$1.01', '$1.02']) await history.getByText(amount).first().waitFor();
    await payees.selectOption({ index: 1 });
    const listed = await payees.locator('option').allTextContents();
    expect(listed).toContain('USD •••• 5099 · Ada Late');
  });

  test('more payments are loaded once the network is back, and the keyboard focus stays at the end of the list', async () => {
    const { sandbox } = started;
    const [from, to] = await accountsIn(sandbox, await sampleCustomer(sandbox), 'USD');
    const payOne = () => sandbox.succeed('transferOut', moving(from, to, 1));
    // On a busy machine, the service may refuse requests, so each payment is retried.
    for (let number = 0; number < 25; number += 1) await vi.waitFor(payOne, { timeout: 30_000 });
    const { page, history } = await openWallet();
    const more = history.getByRole('button', { name: 'More' });
    await more.focus();
    await expect.poll(() => history.getByRole('listitem').count()).toBeGreaterThan(10);
    expect(await more.evaluate(isFocused)).toBe(true);

    // A page that failed to load is requested again when the button is pressed.
    let asked = 0;
    await page.route('**/graphql', (route) => {
      if (/"after":"/.test(route.request().postData() ?? '')) asked += 1;
      return route.abort();
    });
    await more.scrollIntoViewIfNeeded();
    await history.getByRole('alert').filter({ hasText: 'There is no connection.' }).waitFor();
    await more.press('Enter');
    await expect.poll(() => asked).toBe(2);
    await page.unroute('**/graphql');
    const end = history.getByText('End of the list');
    await expect
      .poll(async () => {
        await page.keyboard.press('Enter');
        return end.count();
      })
      .toBe(1);
    expect(await history.getByRole('alert').count()).toBe(0);
    expect(await end.evaluate(isFocused)).toBe(true);
  });

  test('on a phone, a rejected field in the payee form gets the focus, and the outcome comes into view', async () => {
    const { page } = await openWallet({ viewport: phone });
    const form = await fillPayee(page, 'Ada Short', '12');
    await form.getByText('the value must be 4 to 17 digits; it has 2 characters.').waitFor();
    expect(await form.getByLabel('Account number').evaluate(isFocused)).toBe(true);
    // The form is scrolled so that its button is at the bottom edge of the screen.
    await form.getByLabel('Account number').fill('000456000');
    await form.getByRole('button').evaluate((button) => button.scrollIntoView(false));
    await form.getByRole('button').click();
    await expect.poll(() => form.getByText('The payee is added.').evaluate(isInView)).toBe(true);
  });

  test('on the narrowest phone no amount or account name is broken across lines', async () => {
    const { page, pay, quote } = await openWallet({ viewport: { width: 320, height: 640 }, locale: 'de-DE' });
    await page.getByRole('button', { name: 'Statement of USDC account' }).click();
    const statement = page.getByRole('dialog', { name: 'Statement of USDC account' });
    await statement.getByText('Balance now').waitFor();
    expect(await statement.evaluate(brokenWords)).toEqual([]);
    const dates = statement.locator('figcaption');
    const rightOf = (element: Locator) => element.evaluate((one) => one.getBoundingClientRect().right);
    expect(await rightOf(dates.locator('span').last())).toBe(await rightOf(dates));
    await page.keyboard.press('Escape');
    await select(pay, 'From', 'BTC account');
    await select(pay, 'To', 'USD');
    await quote('0,0001');
    await pay.getByRole('button', { name: /^Pay / }).click();
    await pay.locator('[data-status=COMPLETED]').waitFor();
    expect(await pay.locator('.card').evaluate(brokenWords)).toEqual([]);
    await screenshot(page, 'wallet-narrow', { fullPage: true });
  });

  test('a customer who was frozen after the quote is told what to do, and can no longer press Pay', async () => {
    const { sandbox } = started;
    const customerId = await sampleCustomer(sandbox);
    const { pay, quote } = await openWallet();
    await pay.getByLabel('To').selectOption({ index: 0 });
    await quote('1.00');
    await pay.getByRole('button', { name: 'Pay $1.00' }).waitFor();
    await started.ops('customer', 'freeze', customerId, '--by', 'a person', '--reason', 'a test');
    await pay.getByRole('button', { name: 'Pay $1.00' }).click();
    await pay.getByText('Your payments are blocked. Please contact support.').waitFor();
    expect(await pay.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    await pay.getByRole('button', { name: 'Get a quote' }).click();
    await pay.getByText('Your payments are blocked. Please contact support.').waitFor();
    await started.ops('customer', 'thaw', customerId, '--by', 'a person', '--reason', 'a test');

    const payee = (await pay.getByLabel('To').inputValue()) as string;
    await started.ops('account', 'freeze', payee, '--by', 'a person', '--reason', 'a test');
    await pay.getByRole('button', { name: 'Get a quote' }).click();
    await pay.getByText('Your account or the payee’s is blocked. Please contact support.').waitFor();
    await started.ops('account', 'thaw', payee, '--by', 'a person', '--reason', 'a test');
  });

  test('the hint for a field in the payee form states the format only once', async () => {
    const { page } = await openWallet();
    await page.getByText('New payee').click();
    const form = page.getByRole('form', { name: 'New payee' });
    const hints = async (type: string) => {
      await form.getByLabel('Where the account is').selectOption(type);
      return form.locator('label:has(input) small').allTextContents();
    };
    expect(await hints('GBP_ACCOUNT')).toContain('6 digits such as 20-00-00');
    expect(await hints('US_ACCOUNT')).toEqual(expect.arrayContaining(['4 to 17 digits', '9 digits']));
    expect(await form.getByLabel('Account category').locator('option').allTextContents()).toContain('Checking');
    // The button is below the last field, not beside that field's label.
    const boxOf = (part: Locator) => part.evaluate((element) => element.getBoundingClientRect());
    const [last, button] = [await boxOf(form.getByRole('textbox').last()), await boxOf(form.getByRole('button'))];
    expect(button.top).toBeGreaterThan(last.bottom);
    expect(await hints('LAYER2_WALLET')).toEqual(['20 to 120 letters or digits']);
    expect(await hints('NGN_ACCOUNT')).toContain(
      'as shown on account statements. It helps identify the account; 1 to 140 characters',
    );
    expect(await hints('LIGHTNING')).toContain('can be paid once; starting with ln');
  });

  test('a payment whose response is late or lost is shown, even if the quote has expired or Cancel has been pressed', async () => {
    const { sandbox } = started;
    const { page, pay, quote, quoted } = await openWallet();
    await page.clock.install();
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    const payment = pay.getByRole('figure', { name: 'The payment' });
    const button = (name: RegExp) => pay.getByRole('button', { name });
    const [account] = await accountsIn(sandbox, await sampleCustomer(sandbox), 'GBP');
    /** Lets the service make the next payment, but holds its response until the test delivers or drops it. */
    const holdResponse = async () => {
      const paid = Promise.withResolvers<void>();
      const decided = Promise.withResolvers<'lost' | 'delivered'>();
      await page.route('**/graphql', async (route) => {
        const isPayment = /"input":\{"quoteId":[^}]*"idempotencyKey"/.test(route.request().postData() ?? '');
        if (!isPayment) return route.continue();
        const response = await route.fetch();
        paid.resolve();
        return (await decided.promise) === 'lost' ? route.abort() : route.fulfill({ response });
      });
      return { paid: paid.promise, decide: decided.resolve };
    };
    const pays = async (amount: string) => {
      const { paid, decide } = await holdResponse();
      await select(pay, 'From', 'GBP account');
      await pay.getByLabel('To').selectOption({ index: 0 });
      await quoted(amount);
      await button(/^Pay /).click();
      await paid;
      const left = (Number(await sandbox.balanceOf(account)) / 100).toLocaleString('en', { minimumFractionDigits: 2 });
      await pay.locator('option:checked', { hasText: left }).waitFor({ state: 'attached' });
      return decide;
    };

    // After this payment, the remaining balance cannot cover another of the same amount.
    const whole = Number(await sandbox.balanceOf(account)) / 100;
    const late = await pays((whole * 0.6).toFixed(2));
    await page.clock.fastForward('05:01');
    expect(await pay.getByRole('alert').allTextContents()).toEqual([]);
    late('delivered');
    await payment.waitFor();

    const lost = await pays((whole * 0.3).toFixed(2));
    await page.clock.fastForward('05:01');
    lost('lost');
    await payment.waitFor();
    expect(await pay.getByRole('alert').allTextContents()).toEqual([]);

    const canceled = await pays((whole * 0.01).toFixed(2));
    await button(/^Cancel/).click();
    canceled('lost');
    await payment.waitFor();

    // The failure of an earlier request says nothing about the quote that is shown.
    await page.unroute('**/graphql');
    const fail = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (!/"decimal":"11"/.test(route.request().postData() ?? '')) return route.continue();
      await fail.promise;
      return route.abort();
    });
    await quote('11');
    await quoted('12');
    const failed = page.waitForEvent('requestfailed');
    fail.resolve();
    await failed;
    await button(/^Cancel/).waitFor();
    expect(await pay.getByRole('alert').count()).toBe(0);
  });
});

/** Returns empty values for the text fields of an account type. */
function emptied(type: string): Readonly<Record<string, string>> {
  const { fields } = accountTypes[type as keyof typeof accountTypes];
  return Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => ('values' in field ? [] : [[name, '']])));
}

/** Returns the id of the wallet's customer. */
async function sampleCustomer(sandbox: TestPlatform): Promise<string> {
  const [id] = await sandbox.idsIn('customers', { name: 'Sample Person' });
  return id ?? expect.fail('the sandbox has no sample customer');
}

/** Returns the ids of the customer's internal account and newest payee in the given currency. */
async function accountsIn(sandbox: TestPlatform, customerId: string, currency: string) {
  const [payee = ''] = await sandbox.idsIn('accounts', { kind: 'EXTERNAL', customerId, currency });
  return [await sandbox.internalAccount(customerId, currency), payee] as const;
}

// Rounded down, because scrolling stops at whole pixels.
const isInView = (element: Element) => Math.floor(element.getBoundingClientRect().bottom) <= innerHeight;

/** Returns the visible words in an element that are broken across lines, except addresses and very long words. */
function brokenWords(element: Element): string[] {
  const broken: string[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (const { 0: word, index } of (text.textContent ?? '').matchAll(/(?<!\S)[^\s@]{1,24}(?!\S)/g)) {
      const range = new Range();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const isHidden = text.parentElement?.closest('.hidden');
      if (!isHidden && range.getClientRects().length > 1) broken.push(word);
    }
  return broken;
}

const isFocused = (element: Element) => element.contains(document.activeElement);

/** Returns whether the page is wider than its window. */
const isTooWide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** Adds a US bank account as a payee of the wallet's customer. Returns its id. */
async function newPayee(sandbox: TestPlatform, fullName: string, accountNumber: string): Promise<string> {
  const beneficiary = { individual: { fullName } };
  return sandbox.externalAccount(await sampleCustomer(sandbox), 'USD', usAccount(accountNumber), { beneficiary });
}

/** Uses the form to add a US bank account. Returns the form. */
async function fillPayee(page: Page, owner: string, accountNumber: string): Promise<Locator> {
  const form = page.getByRole('form', { name: 'New payee' });
  if (!(await form.isVisible())) await page.getByText('New payee').click();
  await form.getByLabel('Where the account is').selectOption('US_ACCOUNT');
  await form.getByLabel('Name of the owner').fill(owner);
  await form.getByLabel('Account number').fill(accountNumber);
  await form.getByLabel('ABA routing number').fill('021000021');
  await form.getByRole('button', { name: 'Add the payee' }).click();
  return form;
}

/** Announces a payment to the wallet's customer. It stays PENDING until the platform approves it. Returns its id. */
async function announce(sandbox: TestPlatform, amount = 777): Promise<string> {
  return (await sandbox.announce(await sampleCustomer(sandbox), amount)).id;
}

/** Selects a list's first option that contains `text`. */
async function select(pay: Locator, label: string, text: string): Promise<void> {
  const list = pay.getByLabel(label);
  const option = list.locator('option', { hasText: text }).first();
  await option.waitFor({ state: 'attached' });
  await list.selectOption((await option.getAttribute('value')) ?? '');
}
