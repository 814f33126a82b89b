import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import type { Locator, Page, WebSocketRoute } from 'playwright-core';
import { format } from 'prettier';
import { describe, expect, test } from 'vitest';
import { journey } from '../../src/apps/lab/further-steps.ts';
import { moving } from '../setup/acts.ts';
import { browserPath, faultsOf, screenshot } from '../setup/browser.ts';
import { sandboxInBrowser } from '../setup/browser-sandbox.ts';
import { labOf } from '../setup/lab-page.ts';

test.each(journey)(
  'the document for $title is valid against the schema, names its operation and is prettified',
  async ({ query, operation }) => {
    const document = parse(query);
    expect(validate(buildSchema(readFileSync('schema.graphql', 'utf8')), document)).toEqual([]);
    expect(document.definitions).toMatchObject([{ name: { value: operation } }]);
    expect(query).toBe(await format(query, { parser: 'graphql' }));
  },
);

describe.skipIf(browserPath === undefined)('in a browser', () => {
  const started = sandboxInBrowser({ SANDBOX_PACE_MS: '300' });

  test('takes a newcomer from the front page through the whole journey with the mouse, and shows payments moving', async () => {
    const page = await started.open();
    const asked = watch(page);
    await page.goto(started.gateway.url);
    expect(await page.locator('pre').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.getByRole('link', { name: /^Lab/ }).click();
    const lab = labOf(page);

    // One click makes the first payment, and the next tab follows the payment until it has ended.
    await lab.eventOf(await lab.run('Transaction:'), 'COMPLETED').waitFor();
    await page.getByText(/^200 OK · [\d,]+ ms · [\d.]+ kB · cost \d+$/).waitFor();
    expect(await lab.result.textContent()).not.toContain('extensions');
    await screenshot(page, 'first-payment');
    await page.getByRole('button', { name: 'Next: Watch' }).click();
    await lab.isOpen('Watch');
    await lab.run('"COMPLETED"');

    await lab.open('Look around');
    expect(await lab.run('"PLATFORM"')).toContain('InternalAccount:');
    await lab.open('Add a beneficiary');
    await page.keyboard.press('ControlOrMeta+Enter');
    await lab.result.getByText('New Payee').waitFor();
    await lab.open('Quote');
    expect(await lab.run('totalReceivingAmount')).toContain('Quote:');

    // The Watch tab's stream starts before the payment, and loses no messages while other tabs and the docs are open.
    await lab.open('Watch');
    expect(await lab.run('"status": "')).not.toContain('errors');
    const docs = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Read more' }).click();
    await (await docs).close();
    await lab.open('Execute');
    const executed = await lab.run('"replayed": false');
    expect(executed).not.toContain('code');
    await lab.eventOf(executed, 'COMPLETED').waitFor();
    await lab.open('Watch');
    await lab.result.getByText('"COMPLETED"').first().waitFor();
    await screenshot(page, 'lab');

    await lab.open('Timeline');
    expect(await lab.run('"COMPLETED"')).toContain('"final"');
    const drawing = page.getByRole('figure', { name: 'The payment' });
    expect(await drawing.getByRole('listitem').allTextContents()).toEqual([
      expect.stringMatching(/^PENDING\d+:\d+:\d+/),
      expect.stringMatching(/^PROCESSING\d+:\d+:\d+/),
      expect.stringMatching(/^COMPLETED\d+:\d+:\d+/),
      'DebitUSD account → Fees$0.35',
      'DebitUSD account → Liquidity$99.65',
      expect.stringMatching(/^DebitLiquidity → Clearing€[\d.]+$/),
      expect.stringMatching(/^DeliveryClearing → Outside€[\d.]+$/),
    ]);
    await lab.open('UMA: pay');
    await page.getByRole('button', { name: 'Next: Fail on purpose' }).click();
    await lab.isOpen('Fail on purpose');
    expect(await lab.run('Transaction:')).not.toContain('"code"');
    const failed = lab.event('Outgoing payment FAILED');
    await failed.first().waitFor();
    // Only the event of a payment has a timeline.
    const titleOf = (event: string) => lab.event(event).first().getByRole('button').getAttribute('title');
    expect(await titleOf('Outgoing payment')).toBe('Open its timeline; copy its cursor to Resume');
    expect(await titleOf('Account status')).toBe('Copy its cursor to Resume');
    await lab.event('Outgoing payment COMPLETED').first().click();
    await lab.isOpen('Timeline');
    await lab.run('"COMPLETED"');
    // Clicking another event replaces the payment in the open tab and clears the previous payment's response.
    await failed.first().click();
    await page.getByText('No answer').waitFor();
    expect(await lab.run('"FAILED"')).toContain('OFFRAMP_FAILED');
    // While a panel is open, the whole payment is visible and the buttons stay in one row.
    await page.getByRole('button', { name: 'Explorer' }).click();
    await drawing.getByText('Liquidity → USD account').waitFor();
    expect(await drawing.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    const tops = await page
      .locator('.lab-tools > button')
      .evaluateAll((buttons) => buttons.map((one) => one.getBoundingClientRect().top));
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(20);
    const explorer = page.locator('.graphiql-explorer-root');
    await lab.open('Limit payments');
    await explorer.locator('select').first().waitFor();
    expect(await explorer.evaluate(cutOff)).toEqual([]);
    await page.getByRole('button', { name: 'Explorer' }).click();

    await lab.open('Limit payments');
    expect(await lab.run('"policy"')).toContain('Policy:');
    await lab.open('Limits left');
    await page.getByText('payments made before the policy was set do not count').waitFor();
    expect(await lab.run('"leftAmount"')).toContain('$5,000.00');
    await lab.open('Lift limits');
    await lab.run('"replayed": false');

    await lab.open('Webhooks');
    expect(await lab.run('"secret"')).toContain('WebhookEndpoint:');
    await lab.open('Deliveries');
    expect(await lab.run('127.0.0.1:4999')).not.toContain('errors');

    expect(asked).toEqual({ foreign: [], refusedByPolicy: [] });
    expect(await runsInlineScripts(page)).toBe(false);
  });

  test('the front page and the lab say when they are disconnected, and the front page updates its counts when it reconnects', async () => {
    const page = await started.open();
    let isAway = false;
    let refusal = {};
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/graphql$/, (socket) => {
      if (isAway) return void socket.close(refusal);
      socket.connectToServer();
      sockets.push(socket);
    });
    await page.goto(started.gateway.url);
    await page.locator('#statuses:not([aria-busy])').waitFor();
    isAway = true;
    await sockets[0]?.close();
    const connection = page.locator('#connection');
    await connection.getByText('not connected').waitFor();
    // Simulates a stale count, which the page must replace when it reconnects.
    const count = page.locator('#statuses [data-status=COMPLETED] strong');
    const before = await count.textContent();
    await count.evaluate((number) => {
      number.textContent = 'old';
    });
    isAway = false;
    await expect.poll(() => connection.textContent()).toBe('');
    await expect.poll(() => count.textContent()).toBe(before);
    isAway = true;
    refusal = { code: 4403, reason: 'send valid credentials' };
    await page.goto(`${started.gateway.url}/lab`);
    // The service's message is shown as a sentence, like the page's own messages.
    await page.getByRole('alert').getByText('send valid credentials.').waitFor();
  });

  test('the front page and the lab replace a connection that delivers nothing, and the front page retries what is refused', async () => {
    const page = await started.open();
    await page.clock.install();
    const refused = [{ message: 'too many requests', extensions: { code: 'RATE_LIMITED' } }];
    /** How the page's first two count queries and its first stream end. */
    const ends = [
      ['query', 'error', refused],
      ['query', 'next', { data: null, errors: refused }],
      ['subscription', 'error', refused],
    ] as const;
    const left = new Set<(typeof ends)[number]>();
    let isDead = false;
    let sockets = 0;
    await page.routeWebSocket(/\/graphql$/, (socket) => {
      sockets += 1;
      isDead = false;
      const server = socket.connectToServer();
      server.onMessage((message) => isDead || socket.send(message));
      socket.onMessage((message) => {
        const { id, type, payload } = JSON.parse(String(message));
        const end = [...left].find(([kind]) => type === 'subscribe' && payload.query.includes(`${kind} `));
        if (isDead || !end) return isDead || server.send(message);
        left.delete(end);
        socket.send(JSON.stringify({ id, type: end[1], payload: end[2] }));
        if (end[1] === 'next') socket.send(JSON.stringify({ id, type: 'complete' }));
      });
    });
    for (const end of ends) left.add(end);
    await page.goto(started.gateway.url);
    const counts = page.locator('#statuses:not([aria-busy]) [data-status=COMPLETED] strong');
    await expect.poll(() => left.size).toBe(0);
    const completed = '{ transactions(filter: { status: [COMPLETED] }) { totalCount } }';
    await expect
      .poll(() => counts.textContent())
      .toBe(String((await started.sandbox.ask(completed)).transactions.totalCount));
    const moves = page.locator('#moves li:not(#no-moves)');
    const { sandbox } = started;
    const [customerId = ''] = await sandbox.idsIn('customers', { name: 'Sample Person' });
    const [payee = ''] = await sandbox.idsIn('accounts', { kind: 'EXTERNAL', customerId, currency: 'USD' });
    const pay = async () =>
      sandbox.succeed('transferOut', moving(await sandbox.internalAccount(customerId, 'USD'), payee, 100));
    // The stream may not be open again yet.
    await expect.poll(() => pay().then(() => moves.count())).toBeGreaterThan(0);

    for (const path of ['/', '/lab']) {
      await page.goto(new URL(path, started.gateway.url).href);
      await (path === '/' ? counts.waitFor() : page.getByText('live', { exact: true }).waitFor());
      const before = sockets;
      isDead = true;
      for (const time of ['00:11', '00:06', '00:05']) await page.clock.fastForward(time);
      await expect.poll(() => sockets).toBeGreaterThan(before);
    }
  });

  test('says why an operation could not be sent, and keeps the focus on the tabs', async () => {
    const page = await started.open('/lab', { viewport: { width: 1024, height: 768 } });
    const lab = labOf(page);
    // A later visit begins with the same tabs, even if only GraphiQL has saved its state.
    await page.waitForFunction(() => localStorage.getItem('graphiql:variables'));
    await page.reload();
    await page.locator('.graphiql-execute-button').waitFor();
    await lab.isOpen('First payment');
    expect(await page.getByRole('tab', { name: 'New tab' }).count()).toBe(0);
    // Nothing is sent without the id that another tab provides.
    for (const [tab, name, other] of [
      ['Watch', 'transaction', 'run the “First'],
      ['Execute', 'quote', 'the tab before'],
    ] as const) {
      await lab.open(tab);
      expect(await lab.run(`The variable $${name} has no value yet`)).toContain(other);
    }
    await lab.open('Deliveries');
    await page.getByText('first a test event, then events about the payments').waitFor();
    await page.route(/\/graphql$/, (route) => route.abort());
    await lab.run('The service cannot be reached');
    await page.unroute(/\/graphql$/);
    await page.route(/\/graphql$/, (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway</html>' }));
    await lab.run('The response did not come from the service');
    await page.getByText(/^502 Bad Gateway · /).waitFor();

    const openTab = page.getByRole('tab', { selected: true });
    const lastStep = page.getByRole('tab', { name: 'Remove the endpoint' });
    const lastPlace = await lastStep.boundingBox();
    const hasFocus = () => openTab.evaluate((tab) => tab === document.activeElement);
    const close = page.getByRole('button', { name: 'Close New tab' });
    for (const end of [() => openTab.press('Delete'), () => close.press('Enter')]) {
      await page.getByRole('button', { name: 'New tab', exact: true }).click();
      await close.waitFor();
      expect(await lastStep.boundingBox()).toEqual(lastPlace);
      await page.locator('.lab-query :focus').waitFor({ state: 'attached' });
      await end();
      await lab.isOpen('Remove the endpoint');
      await expect.poll(hasFocus).toBe(true);
    }
    // Hints do not move the button that sends the operation. When the last step opens, this button gets the focus.
    const execute = page.locator('.graphiql-execute-button');
    const place = await execute.boundingBox();
    await lab.open('Deliveries');
    expect(await execute.boundingBox()).toEqual(place);
    await page.getByRole('button', { name: 'Next: Remove the endpoint' }).press('Enter');
    await lab.isOpen('Remove the endpoint');
    expect(await execute.evaluate((button) => button === document.activeElement)).toBe(true);
    // The tabs beside the events leave enough room for the document, and the editor's outline is not cut off.
    const tabs = await page.getByRole('tablist').boundingBox();
    expect(tabs?.height).toBeLessThan(150);
    await page.keyboard.press('Tab');
    const editor = page.locator('.lab-query .graphiql-editor');
    await editor.focus();
    expect(await editor.evaluate((element) => getComputedStyle(element).outlineOffset)).toBe('-3px');
    // Without the endpoint's id, the operation can be neither sent nor copied. All of the copied text is visible.
    expect(await lab.copied('Copy as curl')).toContain('The variable $endpoint has no value yet');
    await page.keyboard.press('Escape');
    await lab.open('Fail on purpose');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const shown = await lab.copy.locator('pre').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(shown).toBe(0);
    await page.keyboard.press('Escape');
    expect(await lab.copied('Copy as code')).toContain('mutation FailOnPurpose(');
  });

  test('a step whose document was replaced opens in a new tab, with the values that other tabs provide', async () => {
    const page = await started.open('/lab');
    const lab = labOf(page);
    await page.locator('.graphiql-execute-button').waitFor();
    await lab.run('Transaction:');
    for (const open of [
      () => page.getByRole('button', { name: 'Next: Timeline' }).click(),
      () => lab.event('Outgoing payment').first().click(),
    ]) {
      await lab.open('Timeline');
      await page.locator('.lab-query').click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await page.getByRole('tab', { name: 'New tab', selected: true }).waitFor();
      await lab.open('Watch');
      await open();
      await lab.isOpen('Timeline');
      await lab.run('"final"');
    }
    // A step keeps its tab even if another tab is added right after the step has been opened.
    await lab.open('Quote');
    await page.getByRole('tab', { name: 'Execute' }).evaluate((tab: HTMLElement) => {
      tab.click();
      setTimeout(() => document.querySelector<HTMLElement>('[aria-label="New tab"]')?.click());
    });
    await page.getByRole('tab', { name: 'New tab', selected: true }).waitFor();
    await lab.open('Execute');
  });

  test("a copied request has its tab's headers and its operation's name, and errors name an invalid header", async () => {
    const query = 'query Kind { viewer { kind } } query Time { viewer { serverTime } }';
    const page = await started.open(`/lab#${new URLSearchParams({ query })}`);
    const lab = labOf(page);
    await page.locator('.graphiql-execute-button').waitFor();
    await page.getByRole('button', { name: 'Headers' }).click();
    const enter = async (headers: string) => {
      await page.locator('.lab-variables .graphiql-editor:visible').click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(headers);
    };
    await enter('{"Authorization": "Bearer mine", "X-Request-Id": "1"}');
    const curl = await lab.copied('Copy as curl');
    expect(curl).toContain("-H 'authorization: Bearer mine' \\\n  -H 'x-request-id: 1' \\\n");
    expect(curl).not.toContain('Basic');
    expect(curl).toContain('"operationName":"Kind"');
    await page.keyboard.press('Escape');
    expect(await lab.copied('Copy as code')).toContain('"authorization": "Bearer mine",\n  "x-request-id": "1"\n};');
    await page.keyboard.press('Escape');
    await enter('Authorization: Bearer mine');
    expect(await lab.copied('Copy as curl')).toBe('The headers are not a JSON object.');
    await page.keyboard.press('Escape');
    await enter('{"My header": "1"}');
    await page.keyboard.press('ControlOrMeta+Enter');
    await lab.result.getByText('The header “my header”').waitFor();
    await page.getByText('Not sent').waitFor();
  });

  test('resumes its event stream after a pause, and misses nothing', async () => {
    const page = await started.open('/lab');
    const lab = labOf(page);
    await lab.events.first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await lab.state('paused');
    const shown = await lab.events.count();
    await lab.open('Fail on purpose');
    const failing = lab.eventOf(await lab.run('Transaction:'), 'FAILED');
    expect(await lab.events.count()).toBe(shown);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await lab.state('live');
    await failing.waitFor();

    // A tab's stream ends when its cursor is replaced.
    const [running, accounts] = [page.locator('.lab-running'), lab.event('Account status')];
    await accounts.last().click();
    await lab.isOpen('Resume');
    await page.locator('.graphiql-execute-button').click();
    await running.waitFor();
    await accounts.first().click();
    await running.waitFor({ state: 'detached' });
    await page.getByText('No answer').waitFor();
    await lab.open('Fail on purpose');

    // The curl command copied from a tab sends the same request as the tab.
    const curl = await lab.copied('Copy as curl');
    expect(curl).toContain(`curl -s ${started.gateway.url}/graphql`);
    const [, authorization = '', body = ''] = /-H 'authorization: ([^']+)'.*-d '(.+)'$/s.exec(curl) ?? [];
    const answer = await fetch(`${started.gateway.url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
    });
    expect(await answer.text()).toContain('"transaction":{"id":"Transaction:');
  });

  test('renders tabs, a document and events within 300 kB, before GraphiQL and its editor have loaded', async () => {
    const page = await started.open();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    let bytes = 0;
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const editor = Promise.withResolvers<void>();
    await page.route(/\/workbench-/, (route) => editor.promise.then(() => route.continue()));
    await page.goto(`${started.gateway.url}/lab`);
    const lab = labOf(page);
    await page.getByText('mutation Pay(').waitFor();
    await lab.events.first().waitFor();
    expect(bytes).toBeLessThan(300_000);
    // A tab that is opened before GraphiQL has loaded stays open.
    await lab.open('Look around');
    await page.getByText('query LookAround').waitFor();
    editor.resolve();
    expect(await lab.run('"PLATFORM"')).toContain('InternalAccount:');
  });

  test('shares an operation as a link, prettifies it, merges its fragments, and lists its shortcuts', async () => {
    const query =
      'query Mine($id:ID!){...F} # kept\nfragment F on Query{accounts(filter:{customerId:$id}){totalCount}}';
    const opened = new URLSearchParams({ query, variables: '{"id":"Customer:1","source":"InternalAccount:1"}' });
    const page = await started.open(`/lab#${opened}`);
    await page.getByRole('tab', { name: 'Mine', selected: true }).waitFor();
    await page.locator('.graphiql-execute-button').waitFor();
    const editor = page.locator('.lab-query .view-lines');
    await page.locator('.lab-query').click();
    await page.keyboard.press('Control+Shift+P');
    await editor.getByText('# kept').waitFor();
    await editor.getByText('filter: { customerId: $id }').waitFor();
    await expect.poll(() => editor.locator('.view-line').count()).toBe(9);
    await page.getByRole('button', { name: /^Merge fragments/ }).click();
    await editor.getByText('fragment').waitFor({ state: 'detached' });
    await editor.getByText('filter: { customerId: $id }').waitFor();

    const lab = labOf(page);
    await page.keyboard.press('Control+Shift+C');
    await lab.copy.getByText(/^(Copy the document:|Copied the document\.)$/).waitFor();
    await page.keyboard.press('Escape');
    const link = await lab.copied('Share');
    expect(Object.fromEntries(new URLSearchParams(new URL(link).hash.slice(1)))).toEqual({
      query: 'query Mine($id: ID!) {\n  accounts(filter: { customerId: $id }) {\n    totalCount\n  }\n}\n',
      variables: '{\n  "id": "Customer:1",\n  "source": "InternalAccount:1"\n}',
    });
    // The dialog does not block the page. Its Close button, Escape or a click outside closes it and returns the focus.
    const share = page.getByRole('button', { name: 'Share' });
    for (const close of [
      () => lab.copy.getByRole('button', { name: 'Close' }).click(),
      () => page.keyboard.press('Escape'),
      () => page.locator('.lab-about').click(),
    ]) {
      await share.click();
      await lab.copy.getByRole('button', { name: 'Close' }).focus();
      await close();
      await lab.copy.waitFor({ state: 'hidden' });
      await expect.poll(() => share.evaluate((button) => button === document.activeElement)).toBe(true);
    }
    await share.click();
    await lab.open('Watch');
    await lab.copy.waitFor({ state: 'hidden' });
    // Following a link while the lab is open adds a tab for it.
    await page.goto(link.replace('Mine', 'Yours'));
    await page.getByRole('tab', { name: 'Yours', selected: true }).waitFor();
    // If the variables cannot be parsed, the page says so instead of sharing a link without them.
    await page.goto(link.replace('Mine', 'Broken').replace('variables=%7B', 'variables='));
    await page.getByRole('tab', { name: 'Broken', selected: true }).waitFor();
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await lab.copied('Share')).toBe('The variables are not a JSON object.');
    // If a document cannot be prettified, the page says why.
    await page.goto(link.replace('Mine', ''.padEnd(2, '{')));
    await page.locator('.graphiql-execute-button').waitFor();
    await page.getByRole('button', { name: /^Prettify/ }).click();
    await lab.copy.getByText('Syntax Error: Expected').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.getByText('Shift-Ctrl-P').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Theme').selectOption('dark');
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark');
    await page.reload();
    await expect.poll(() => page.getByLabel('Theme').inputValue()).toBe('dark');
    await page.getByRole('button', { name: 'Schema' }).click();
    await page.locator('.graphiql-doc-explorer-title', { hasText: /^Schema$/ }).waitFor();
    await page.getByPlaceholder('Search').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test('fits a phone in light and dark mode, and payments can be made by touch', async () => {
    const page = await started.open('', {
      ...{ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme: 'dark' },
    });
    const lines = await page
      .locator('td :is(a, code)')
      .evaluateAll((paths) => paths.map((path) => path.getClientRects().length));
    expect(Math.max(...lines)).toBe(1);
    await page.goto(`${started.gateway.url}/lab`);
    const lab = labOf(page);
    await lab.tap('Quote');
    const answering = Promise.withResolvers<void>();
    await page.route(/\/graphql$/, (route) => answering.promise.then(() => route.continue()));
    await page.locator('.graphiql-execute-button').tap();
    const spinner = page.locator('.graphiql-spinner');
    await spinner.scrollIntoViewIfNeeded();
    expect(await spinner.evaluate(isInSight)).toBe(true);
    answering.resolve();
    // The response is visible, and nothing covers it.
    const quote = lab.result.getByText('Quote:').first();
    await expect.poll(() => quote.evaluate(isInSight)).toBe(true);
    // The variables fit, and opening the explorer does not bring up the on-screen keyboard.
    const variables = page.getByRole('region', { name: 'Variables and headers' });
    const bottomOf = (part: Locator) => part.evaluate((element) => element.getBoundingClientRect().bottom);
    expect(await bottomOf(variables.getByText('"100.00"'))).toBeLessThan(await bottomOf(variables));
    await page.getByRole('button', { name: 'Explorer' }).tap();
    await page.locator('.graphiql-explorer-root input').first().waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('INPUT');
    await page.getByRole('button', { name: 'Explorer' }).tap();
    await page.getByRole('button', { name: 'Next: Execute' }).tap();
    await lab.isOpen('Execute');
    const completed = lab.eventOf(await lab.run('Transaction:'), 'COMPLETED');
    await completed.waitFor();
    // The next tab shows its introduction, even if the current tab is scrolled past its own.
    const about = page.locator('.lab-about');
    expect(await about.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    expect(await about.evaluate(isInSight)).toBe(false);
    await page.getByRole('button', { name: 'Next: ' }).tap();
    await expect.poll(() => about.evaluate(isInSight)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // Only the tabs and code scroll sideways, here and on a wider screen, where the events are beside the tabs.
    const main = page.locator('.lab-main');
    expect(await main.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1024, height: 768 });
    expect(await main.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    // On a phone in landscape orientation, the document and the button below it are in view.
    await page.setViewportSize({ width: 844, height: 390 });
    await page.reload();
    for (const part of ['.lab-query .view-line', '.graphiql-execute-button'])
      await expect.poll(() => page.locator(part).first().evaluate(isInSight)).toBe(true);
    await page.setViewportSize({ width: 390, height: 844 });
    await screenshot(page, 'lab-phone-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await screenshot(page, 'lab-phone');
  });

  test('runs requests in the REST console, and finds operations by any word', async () => {
    const page = await started.open();
    const asked = watch(page);
    await page.goto(started.gateway.url);
    await page.getByRole('link', { name: 'REST console' }).click();
    const operations = page.locator('.opblock:visible');
    await operations.first().waitFor();
    const document = (await (await fetch(`${started.gateway.url}/2025-10-13/openapi.json`)).json()) as {
      paths: Record<string, object>;
      webhooks: Record<string, object>;
    };
    const all = Object.values({ ...document.paths, ...document.webhooks }).flatMap((methods) => Object.keys(methods));
    expect(await operations.count()).toBe(all.length);
    await screenshot(page, 'console');

    await page.locator('.operation-filter-input').fill('get customers');
    await expect.poll(() => operations.count()).toBeLessThan(all.length / 2);
    await page.locator('.opblock-get .opblock-summary', { hasText: '/customers' }).first().click();
    await page.getByRole('button', { name: 'Execute', exact: true }).click();
    const answer = page.locator('.live-responses-table');
    await answer.getByText('Sample Company Inc.').first().waitFor();
    expect(await answer.locator('.response-col_status').last().textContent()).toContain('200');
    await screenshot(page, 'console-answer');

    // An example body works unchanged, even in an operation that was opened through a link. After a reload, the
    // examples contain the ids of the objects that were created.
    await page.goto(`${started.gateway.url}/2025-10-13/docs#/Quotes/createQuote`);
    await page.reload();
    const find = async (operationId: string) => {
      await page.locator('.operation-filter-input').fill(operationId);
      await expect.poll(() => page.locator('.opblock-tag-section .opblock').count()).toBe(1);
      const operation = page.locator(`.opblock[id$="-${operationId}"]`);
      await operation.locator('.opblock-summary').click();
      return operation;
    };
    const quote = page.locator('.opblock[id$="-createQuote"]');
    expect(await quote.locator('textarea.body-param__text').inputValue()).not.toContain('0199d5c1-7a3c');
    await quote.getByRole('button', { name: 'Execute', exact: true }).click();
    await answer.getByText('"PENDING"').first().waitFor();
    await screenshot(page, 'console-example');
    const [quoteId] = (await answer.textContent())?.match(/Quote:[0-9a-f-]{36}/) ?? [];
    await page.reload();
    const execute = await find('executeQuote');
    await expect.poll(() => execute.locator('input[placeholder=quoteId]').inputValue()).toBe(quoteId);
    await execute.getByRole('button', { name: 'Execute', exact: true }).click();
    await answer.getByText('"PROCESSING"').first().waitFor();
    for (const operationId of ['getAccountStatement', 'updateCustomer']) {
      const operation = await find(operationId);
      await operation.getByRole('button', { name: 'Execute', exact: true }).click();
      await operation.locator('.live-responses-table').getByText('200', { exact: true }).waitFor();
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    const [server, filter] = [page.getByLabel('Server', { exact: true }), page.getByLabel('Filter')];
    expect(await server.locator('option').allTextContents()).toEqual([`${started.gateway.url}/2025-10-13`]);
    expect((await filter.boundingBox())?.width).toBeGreaterThan(320);
    expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(390);
    await screenshot(page, 'console-phone-dark');
    await filter.fill('nothing like this');
    await page.getByRole('status').getByText('No operation matches; webhooks are always listed.').waitFor();
    // Focused elements have visible outlines in the dark theme as well.
    await filter.fill('updateCustomer');
    await page.locator('.opblock[id$="-updateCustomer"]').waitFor();
    for (const selector of ['.expand-operation', '.opblock-summary-control', '.copy-to-clipboard button']) {
      await page.keyboard.press('Tab');
      const focused = page.locator(`${selector}:focus:visible`);
      expect(await focused.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid');
    }
    // Without credentials, the console shows the refusal, and the browser does not prompt for any.
    const authorize = page.locator('.btn.authorize').first();
    await authorize.click();
    await page.getByText('Logout').click();
    await page.getByText('its clientId is the username').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.modal-ux').waitFor({ state: 'detached' });
    expect(await page.locator('.btn.authorize:focus').count()).toBe(1);
    const unauthorized = page.locator('.opblock[id$="-updateCustomer"]');
    await unauthorized.getByRole('button', { name: 'Execute', exact: true }).click();
    await unauthorized.locator('.live-responses-table').getByText('UNAUTHORIZED').first().waitFor();
    expect(asked).toEqual({ foreign: [], refusedByPolicy: [] });
  });

  test('the docs can be searched from each of their pages, with the / key or by touch', async () => {
    const page = await started.open(undefined, {
      viewport: { width: 320, height: 640 },
      isMobile: true,
      hasTouch: true,
    });
    const search = page.getByRole('searchbox', { name: 'Search the docs' });
    const isFocused = () => search.evaluate((field) => field === document.activeElement);
    for (const path of ['', '/docs/streams.md', '/schema.graphql', '?q=stream']) {
      await page.goto(`${started.gateway.url}/docs${path}`);
      expect(await isFocused()).toBe(false);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      await page.keyboard.press('/');
      expect(await isFocused()).toBe(true);
    }
    // Pressing `/` has selected the previous query, so typing replaces it.
    await page.keyboard.type('sort');
    expect(await search.inputValue()).toBe('sort');
    // In the search field, `/` is an ordinary character.
    await search.fill('');
    await search.pressSequentially('rotate /key');
    expect(await search.inputValue()).toBe('rotate /key');
    // Pages for users rank above the measurement log.
    await search.fill('idempotency key');
    await search.press('Enter');
    await page
      .locator('main li', { hasText: /… .* …$/ })
      .first()
      .waitFor();
    expect(await page.locator('main li .quiet').allTextContents()).not.toContain('Experiments and their results');
    await search.fill('rotate key');
    await page.getByRole('button', { name: 'Search' }).tap();
    await page.getByRole('link', { name: 'Rotate a key' }).tap();
    await page.getByRole('heading', { name: 'Rotate a key' }).waitFor();
  });
});

/** Returns whether the middle of an element is on the screen and not covered by anything. */
function isInSight(element: Element): boolean {
  const { x, y, width, height } = element.getBoundingClientRect();
  const found = document.elementFromPoint(x + width / 2, y + height / 2);
  return element.contains(found);
}

/** Returns the text of each part of an element that extends beyond the element's right edge. */
function cutOff(element: Element): (string | null)[] {
  const { right } = element.getBoundingClientRect();
  const inside = [...element.querySelectorAll('span, input, select')];
  return inside.filter((one) => one.getBoundingClientRect().right > right).map(({ textContent }) => textContent);
}

/** Records a page's requests to other hosts, and those that its content security policy blocks. */
function watch(page: Page): { readonly foreign: string[]; readonly refusedByPolicy: string[] } {
  const [foreign, refusedByPolicy]: [string[], string[]] = [[], []];
  let own = '';
  page.on('request', (request) => {
    own ||= new URL(request.url()).host;
    if (/^(https?|wss?):/.test(request.url()) && new URL(request.url()).host !== own) foreign.push(request.url());
  });
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) refusedByPolicy.push(message.text());
  });
  return { foreign, refusedByPolicy };
}

async function runsInlineScripts(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.head.append(script);
    return 'injected' in window;
  });
}
