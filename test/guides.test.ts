import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import MarkdownIt from 'markdown-it';
import { afterAll, describe, expect, test } from 'vitest';
import { refusals } from '../src/core/refusal.ts';
import { listen } from './setup/free-port.ts';
import { testGateway } from './setup/gateway.ts';
import { guidePrograms, guides, programOf, readGuide } from './setup/guides.ts';
import { type Answered, attackReceiver } from './setup/hostile-webhooks.ts';
import { bodyOf, passOn } from './setup/pass-on.ts';
import { usAccount } from './setup/scene.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(100_000n);
const payees = [
  scene.outsideEur,
  ...(await Promise.all(
    ['1', '2', '3'].map((last) => t.platform.externalAccount(scene.customerId, 'USD', usAccount(`90${last}0000`))),
  )),
];
const { runGuide: runFor, remove } = await guidePrograms();
afterAll(remove);

const runGuide = (guide: string, url = t.url) =>
  runFor(guide, {
    url,
    credentials: Buffer.from(t.platform.authorization.split(' ')[1] ?? '', 'base64').toString(),
    customer: scene.customerId,
    payee: scene.outsideEur,
    payees: payees.slice(0, 3),
  });

test('every guide with a program has a test here', () => {
  const tested = ['keys', 'server', 'web'].map((name) => `docs/guides/${name}.md`);
  expect(guides.filter((guide) => programOf(guide) !== '')).toEqual(tested);
});

/** How many columns of code fit on a docs page if the screen is 1440 pixels wide. */
const columns = 107;

test.each(['README.md', 'src/apps/client/README.md', ...guides])('the code in %s fits its column', (guide) => {
  const blocks = new MarkdownIt().parse(readGuide(guide), {}).filter(({ tag }) => tag === 'code');
  const lines = blocks.flatMap(({ content }) => content.split('\n'));
  expect(lines.filter(({ length }) => length > columns)).toEqual([]);
});

describe('the quickstart', () => {
  test('for a server creates a customer and a payee, pays, and learns the outcome by webhook', async () => {
    const printed = await runGuide('docs/guides/server.md');
    expect(printed).toMatch(/^\$\d+\.\d\d buys €100\.00\nTransaction:[\w-]+ is COMPLETED\n$/);
  });

  test('for a server ignores forged webhook requests, and reports the outcome of its own payment', async () => {
    let endpoint = { url: '', secret: '' };
    let answers: Record<string, Answered> = {};
    let own = '';
    // While the program makes a payment that the bank refuses, other clients send requests and pay.
    const proxy = createServer(async (request, response) => {
      const body = Buffer.from(
        String(await bodyOf(request)).replace('DE89370400440532013000', 'DE89370400440532013004'),
      );
      if (body.includes('executeQuote')) {
        answers = await attackReceiver(endpoint.url, endpoint.secret);
        await t.platform.payOut(scene, 100);
      }
      const { status, type, text } = await passOn(t.url, request, body);
      if (body.includes('createWebhookEndpoint')) {
        const { url } = JSON.parse(body.toString()).variables.input;
        endpoint = { url, secret: JSON.parse(text).data.createWebhookEndpoint.secret };
      }
      if (body.includes('createQuote')) own = JSON.parse(text).data.createQuote.quote.transaction.id;
      response.writeHead(status, { 'content-type': type }).end(text);
    });
    const printed = await runGuide('docs/guides/server.md', `http://127.0.0.1:${await listen(proxy)}`);
    proxy.close();
    expect(printed.split('\n').slice(1)).toEqual([`${own} is FAILED`, 'QUOTE_EXECUTION_FAILED', '']);
    const { 'a long body': long, 'another path': path, 'another method': method, ...forged } = answers;
    expect([413, 'CUT']).toContain(long);
    expect([path, method]).toEqual([404, 404]);
    expect(Object.keys(forged).length).toBeGreaterThan(10);
    expect(Object.entries(forged).filter(([, answered]) => answered !== 401)).toEqual([]);
  });

  test('for a web app shows a balance, pays, and follows the payment to its end', async () => {
    const printed = await runGuide('docs/guides/web.md');
    expect(printed).toMatch(
      /^USD account \$[\d,]+\.\d\d\nGood for \d+ s: €\d+\.\d\d\n(PENDING\n)?(PROCESSING\n)?COMPLETED\n$/,
    );
  });
});

test("the guide to keys creates a token that can only pay within its limits, or with approval, and an agent's token", async () => {
  const printed = await runGuide('docs/guides/keys.md');
  expect(printed).toMatch(
    /^300\.00 would be sent, leaving 200\.00 for today\npaid: (?:PROCESSING|COMPLETED)\nLIMIT_EXCEEDED LIMIT DAY: 200\.00 is left until \d{4}-[\dT:.-]+Z\nCREATED: \$150\.00 to .+\napproved: (?:PROCESSING|COMPLETED)\n\{"id":"ApiToken:[\w-]+","permissions":\["VIEW","TRANSACT"\],"documents":\["\w{64}","\w{64}"\],"policy":.*"leftAmount":\{"decimal":"500\.00"\}.*\n\{"mcpServers":/,
  );
  const { url, headers } = JSON.parse(printed.slice(printed.indexOf('{"mcpServers"'))).mcpServers.payments;
  const client = new Client({ name: 'agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: args });
    const [answer = '', next = ''] = content.map((part) => (part.type === 'text' ? part.text : ''));
    return { ...JSON.parse(answer).data, confirmation: /confirmation "(.*?)"/.exec(next)?.[1] };
  };
  const found = (await call('Payees', {})).nodes.map(({ id }: { id: string }) => id);
  expect(found).toEqual(payees.slice(0, 3));
  const pay = async (payee: string | undefined, amount: string) => {
    const args = { payee, amount, idempotencyKey: `${payee}-${amount}` };
    const { confirmation } = await call('PayBill', args);
    return (await call('PayBill', { ...args, confirmation })).createQuote;
  };
  // In tests, a payment ends within milliseconds. On a busy machine, it may end before the response is built.
  const paid = { transaction: { status: expect.stringMatching(/^(PROCESSING|COMPLETED)$/) } };
  for (const payee of payees.slice(0, 3))
    expect(await pay(payee, '150.00')).toMatchObject({ replayed: false, quote: paid });
  expect(await pay(payees[0], '50.01')).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  expect(await pay(payees[3], '1.00')).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  expect(await pay(payees[0], '50.00')).toMatchObject({ quote: paid });
  await client.close();
});

test('the example in the money guide satisfies the equation that the guide states', () => {
  const [sent, fees, rate, received] = (
    /\| sent \| ([\d.]+) USD \|\n\| fees \| ([\d.]+) USD \|\n\| .*? ÷ ([\d.]+) \| ([\d.]+) EUR \|/.exec(
      readGuide('docs/guides/money.md'),
    ) ?? []
  )
    .slice(1)
    .map(Number);
  expect(((sent ?? 0) - (fees ?? 0)) / (rate ?? 0)).toBeCloseTo(received ?? 0, 2);
});

test('the error guide lists every refusal code with its status', () => {
  const rows = [...readGuide('docs/guides/errors.md').matchAll(/^\| ([A-Z_]+) \| (\d+) \|/gm)];
  expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toMatchObject(refusals);
});
