import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { acts, isPayment } from '../../src/apps/terminal/acts.ts';
import { schemaName } from '../../src/apps/terminal/command.ts';
import { runCommands } from '../../src/commands.ts';
import { listen } from '../setup/free-port.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { startLoadBalancer } from '../setup/load-balancer.ts';
import { startPrefixProxy } from '../setup/prefix-proxy.ts';
import { sequenced } from '../setup/streams.ts';
import { createEndpoint, endpointUntil } from '../webhooks/endpoint.ts';
import { answer, ownReceiver, verify } from '../webhooks/receiver.ts';

const t = await testGateway({ PAYMENT_APPROVAL_MS: 60_000 });

function start(args: readonly string[], platform: TestPlatform, environment: Record<string, string> = {}) {
  const [, credentials = ''] = platform.authorization.split(' ');
  const [id = '', secret = ''] = Buffer.from(credentials, 'base64').toString().split(':');
  const settings = { PAYMENTS_URL: t.url, PAYMENTS_CLIENT_ID: id, PAYMENTS_CLIENT_SECRET: secret, ...environment };
  return startIn(settings, args);
}

function startIn(environment: Record<string, string>, args: readonly string[]) {
  const control = new AbortController();
  const [out, err]: [string[], string[]] = [[], []];
  const looks = new Set<() => void>();
  const print = (to: string[]) => (text: string) => {
    to.push(...text.split('\n'));
    for (const look of looks) look();
  };
  const write = async (text: string) => print(out)(text);
  const screen = { environment, out: print(out), write, err: print(err), untilStopped: () => control.signal };
  const done = runCommands(args, screen);
  return {
    out,
    err,
    line(wanted: RegExp): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>();
      const look = () => {
        const found = [...out, ...err].find((one) => wanted.test(one));
        if (found !== undefined) resolve(found);
      };
      looks.add(look);
      look();
      const never = done.then((code) => {
        throw new Error(`it exited with ${code}, and never printed ${wanted}:\n${[...out, ...err].join('\n')}`);
      });
      return Promise.race([promise, never]);
    },
    /** Interrupts the command as Ctrl-C does. */
    stop: () => control.abort(),
    done,
  };
}

async function run(args: readonly string[], platform = t.platform, environment?: Record<string, string>) {
  const running = start(args, platform, environment);
  return { code: await running.done, out: running.out.join('\n'), err: running.err.join('\n') };
}

async function json(args: readonly string[], platform = t.platform): Promise<Data> {
  const { code, out, err } = await run(['--json', ...args], platform);
  expect({ code, err, out }).toMatchObject({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('the command line', () => {
  test('has help for every command, and exits with 2 for wrong arguments', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const name of ['follow', 'tail', 'listen', 'logs', 'resend', 'trigger']) {
      expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
      const help = await run([name, '--help']);
      expect(help).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: npm run cli -- ${name}`) });
    }
    for (const args of [[], ['watch'], ['follow'], ['tail', '--last', 'many'], ['listen']]) {
      expect(await run(args)).toMatchObject({ code: 2, err: expect.stringContaining('Usage: npm run cli --') });
    }
  });

  test('has every command and option that its documentation names', async () => {
    const page = readFileSync('docs/command-line.md', 'utf8');
    const lines = [...page.matchAll(/^ +npm run cli -- (.+?)(?: +#.*)?$/gm)].map(([, line = '']) => line);
    expect(lines.length).toBeGreaterThan(10);
    const { out: common } = await run(['--help']);
    for (const line of lines) {
      const [name = '', ...words] = line.split(' ');
      const { code, out } = await run(name === '--help' ? [name] : [name, '--help']);
      expect({ line, code }).toEqual({ line, code: 0 });
      for (const option of words.filter((word) => word.startsWith('--')))
        expect(`${common}${out}`).toContain(`${option} `);
      if (name === 'trigger' && words[0] !== undefined) expect(acts).toHaveProperty(schemaName(words[0]));
    }
  });

  test('runs as a program that Ctrl-C stops', async () => {
    const [, credentials = ''] = t.platform.authorization.split(' ');
    const [PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET] = Buffer.from(credentials, 'base64').toString().split(':');
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8'));
    const program = spawn(bin.payments, ['listen', '3000', '--url', t.url], {
      env: { ...process.env, PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(program, 'exit');
    for await (const text of program.stdout) if (String(text).includes('whsec_')) program.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  test('reports errors: exits with 2 for wrong arguments, and with 1 for wrong credentials and unknown objects', async () => {
    const ends = (code: number) => async (args: string[], environment?: Record<string, string>) => {
      const ended = await run(args, t.platform, environment);
      expect([args, ended.code]).toEqual([args, code]);
      return expect(ended.err);
    };
    const [failing, wrong] = [ends(1), ends(2)];
    (await wrong(['tail', '--url', 'nowhere'])).toMatch('nowhere is not the URL of a service');
    (await failing(['tail', '--url', 'http://127.0.0.1:65530'])).toMatch(
      /^Nothing answers at \S+:65530 \(ECONNREFUSED\)/,
    );
    (await failing(['tail'], { PAYMENTS_CLIENT_SECRET: 'wrong' })).toMatch('does not know these credentials');
    (await wrong(['listen', 'x', '--after', 'y'])).toMatch('x is not a receiver');
    (await wrong(['listen', '0'])).toMatch('0 is not a receiver');
    (await failing(['listen', '1', '--after', 'y'])).toMatch('refuses the cursor y');
    (await failing(['tail', '--after', ''])).toMatch('refuses the cursor ""');
    (await failing(['listen', '1'], { WEBHOOK_SECRET: 'mine' })).toMatch('WEBHOOK_SECRET is not a signing secret');
    (await failing(['follow', 'Transaction:1'])).toMatch('NOT_FOUND');
    (await failing(['follow', 'Quote:1'])).toMatch('There is no Quote:1.');
    (await wrong(['trigger', 'rain'])).toMatch('rain cannot be triggered. Choose one of OUTGOING_PAYMENT');
    (await wrong(['trigger', 'kyc-status', '--reject'])).toMatch('kyc-status creates no payment');
    (await wrong(['trigger', 'transfer-out', '--failure-reason', 'RAIN'])).toMatch(
      'Allowed choices are LNURLP_FAILED,',
    );
    (await wrong(['tail', '--type', 'RAIN'])).toMatch('There is no event type RAIN');
    (await wrong(['trigger', 'transfer-out', '--amount', 'much'])).toMatch('Expected an amount such as 12.50');
    (await wrong(['resend', 'Event:1', '--to', 'x'])).toMatch('x is not a receiver');
    (await wrong(['resend', 'Quote:1'])).toMatch('Quote:1 cannot be sent again');
    for (const body of ['<html>', 'null', '[]', '{"errors": {"detail": "Not Found"}}']) {
      const other = createServer((_request, response) => void response.end(body));
      const address = `http://127.0.0.1:${await listen(other)}`;
      (await failing(['logs', '--url', address])).toMatch(/answers with 200: it is not this service\.$/);
      other.close();
    }
    const away = startIn({}, ['tail', '--url', 'https://payments.example']);
    expect(await away.done).toBe(1);
    expect(away.err).toEqual([expect.stringContaining('Only a sandbox on this machine needs none.')]);
    expect(JSON.parse((await run(['--json', 'follow', 'Transaction:1'])).out)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('works through a proxy that serves the service under a path', async () => {
    const proxy = await startPrefixProxy(t.url, '/pay');
    for (const url of [`${proxy.url}/`, `${proxy.url}/graphql`])
      expect(await run(['trigger', 'transfer-out', '--follow', '--url', url])).toMatchObject({ code: 0, err: '' });
    proxy.close();
  });

  test('exits without a message if its output is no longer read', async () => {
    const program = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/commands.ts', '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    program.stdout.destroy();
    const [said, [code]] = await Promise.all([text(program.stderr), once(program, 'exit')]);
    expect([code, said]).toEqual([0, '']);
  });

  test('refuses to trigger events in production', async () => {
    const live = await t.newPlatform('live', 'PRODUCTION');
    expect(await run(['trigger', 'KYC_STATUS'], live)).toMatchObject({ code: 1, err: /PRODUCTION/ });
  });
});

describe('trigger', () => {
  test('runs every trigger, even one that has run before', async () => {
    const platform = await t.newPlatform('triggers');
    const receiver = await ownReceiver();
    await createEndpoint(platform, { url: receiver.url });
    const listed = await json(['trigger'], platform);
    expect(listed.map(({ name }: Data) => name)).toEqual(Object.keys(acts));
    for (const name of [...Object.keys(acts), 'OUTGOING_PAYMENT']) {
      const after = await platform.feedEnd();
      const { triggered, id } = await json(['trigger', name.toLowerCase().replaceAll('_', '-')], platform);
      expect(triggered).toBe(name);
      const tail = start(['tail', '--after', after, '--json'], platform);
      if (isPayment(name)) await tail.line(new RegExp(`(OUT|IN)(GO|COM)ING_PAYMENT.*${id}`));
      else await tail.line(new RegExp(`"type":"${name}"`));
      tail.stop();
      expect(await tail.done).toBe(0);
    }
  });

  test('triggers a failure scenario, follows the payment, and prints the failure reason', async () => {
    const { code, out } = await run(['trigger', 'outgoing-payment', '--failure-reason', 'OFFRAMP_FAILED', '--follow']);
    expect(code).toBe(1);
    expect(out).toMatch(/^OUTGOING_PAYMENT {2}Transaction:\S+ {2}(PENDING|PROCESSING)$/m);
    expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} +\+\d+\.\ds {2}FAILED/m);
    expect(out).toMatch(/^FAILED: because of OFFRAMP_FAILED/m);
    const refused = await run(['trigger', 'transfer-out', '--deposit', 'SHORT']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('this payment has no deposit') });
  });
});

describe('listen', () => {
  test('posts every webhook in the feed once, signed and in order, and resumes where it stopped', async () => {
    const platform = await t.newPlatform('listens');
    const { usd } = await platform.makeScene(0n);
    await sequenced(t);
    const receiver = await ownReceiver();
    const port = new URL(receiver.url).port;
    const first = start(['listen', `${port}/hooks`], platform);
    const secret = (await first.line(/whsec_/)).split(' ').at(-1) ?? '';
    await platform.fund(usd, 1n);
    await platform.fund(usd, 1n);
    await receiver.until(({ length }) => length === 2);
    await first.line(/ACCOUNT_STATUS .* 200 /);
    first.stop();
    expect(await first.done).toBe(0);
    const after = first.err.at(-1)?.split(' ').at(-1) ?? '';

    await platform.fund(usd, 1n);
    const second = start(['listen', receiver.url, '--after', after, '--json'], platform);
    const { secret: another } = JSON.parse(await second.line(/"secret"/));
    await platform.fund(usd, 1n);
    await receiver.until(({ length }) => length === 4);
    await second.line(/"status":200/);
    second.stop();
    await second.done;

    expect(another).not.toBe(secret);
    for (const [at, one] of receiver.received.entries()) {
      expect(verify(at < 2 ? secret : another, one)).toEqual(one.body);
      expect(() => verify(at < 2 ? another : secret, one)).toThrow();
    }
    const balances = receiver.received.map(({ body }) => body.newBalance.amount);
    expect(balances).toEqual([1, 2, 3, 4]);
    const { events } = await platform.ask('{ events(last: 4) { edges { node { webhookBody } } } }');
    expect(receiver.received.map(({ raw }) => raw)).toEqual(events.edges.map(({ node }: Data) => node.webhookBody));
  });

  test('signs with an endpoint’s secret, and continues when a receiver fails or is down', async () => {
    const platform = await t.newPlatform('fails');
    const { usd } = await platform.makeScene(0n);
    const receiver = await ownReceiver(answer(500));
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const running = start(['listen', receiver.url, '--type', 'account-status'], platform, { WEBHOOK_SECRET: secret });
    await running.line(/WEBHOOK_SECRET/);
    await platform.fund(usd, 1n);
    await running.line(/ACCOUNT_STATUS .* 500 /);
    receiver.answer = answer(204);
    await platform.fund(usd, 1n);
    await running.line(/ACCOUNT_STATUS .* 204 /);
    await receiver.stop();
    await platform.fund(usd, 1n);
    await running.line(/nothing is listening there/);
    expect(running.out.join()).not.toContain(secret);
    for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
    running.stop();
    expect(await running.done).toBe(0);
  });
});

describe('logs and resend', () => {
  test('show the endpoints’ responses, and resend webhooks to the endpoints or to a program on this machine', async () => {
    const platform = await t.newPlatform('sends again');
    expect(await run(['logs'], platform)).toMatchObject({ code: 1, err: /has no webhook endpoint/ });
    const [receiver, mine] = [await ownReceiver(answer(418)), await ownReceiver()];
    const { id: endpointId, secret } = await createEndpoint(platform, { url: receiver.url });
    await endpointUntil(platform, endpointId, ({ deliveries }) => deliveries[0]?.attempts.length > 0);
    const [{ id, event }] = await json(['logs'], platform);
    const { out } = await run(['logs', '--status', 'PENDING'], platform);
    expect(out.split('\n')[1]).toMatch(new RegExp(`TEST +${id} +${receiver.url} +PENDING +\\d+ +418 `));
    expect((await run(['logs', '--status', 'DELIVERED'], platform)).out).toBe('No delivery is DELIVERED.');

    receiver.answer = answer(200);
    expect(await json(['resend', id], platform)).toEqual({ id, status: 'PENDING' });
    await endpointUntil(platform, endpointId, ({ deliveries }) => deliveries[0].status === 'DELIVERED');
    const { length } = receiver.received;
    expect(await json(['resend', event.id], platform)).toEqual({ endpointId, count: 1 });
    await receiver.until((received) => received.length > length);

    const again = await run(['resend', event.id.replace('Event', 'Webhook'), '--to', mine.url], platform, {
      WEBHOOK_SECRET: secret,
    });
    expect(again).toMatchObject({ code: 0, err: '' });
    expect(mine.received.map(({ raw }) => raw)).toEqual([receiver.received[0]?.raw]);
    for (const one of mine.received) expect(verify(secret, one)).toEqual(one.body);
    await mine.stop();
    expect((await run(['resend', event.id, '--to', mine.url], platform)).code).toBe(1);

    await createEndpoint(platform, { url: `${receiver.url}/2` });
    const { code, err } = await run(['resend', event.id], platform);
    expect(code).toBe(1);
    expect(err).toMatch(/Name one with --endpoint:\n +id +url +status\n/);
  });
});

const receiveUma = (platform: TestPlatform, customerId: string) =>
  platform.actOn('sandboxReceiveUma', {
    receiver: { customerId },
    senderUmaAddress: '$success.usd@sandbox.uma.money',
    currency: 'USD',
    amount: 500,
  });

describe('tail and follow', () => {
  test('tail shows the latest events of the requested types, and each new one with its amount', async () => {
    const platform = await t.newPlatform('watches');
    const { usd, customerId } = await platform.makeScene(0n);
    const all = start(['tail', '--last', '100'], platform);
    await all.line(/KYC_STATUS +Customer:\S+ {2}APPROVED/);
    const after = await platform.feedEnd();
    const ofType = ['--type', 'ACCOUNT_STATUS', '--customer', customerId];
    const some = start(['tail', '--after', after, ...ofType, '--json'], platform);
    await platform.fund(usd, 1_250n);
    await all.line(/ACCOUNT_STATUS +InternalAccount:\S+ {2}\$12\.50/);
    await platform.fund(usd, 1n);
    expect(JSON.parse(await some.line(/12\.51/))).toMatchObject({ type: 'ACCOUNT_STATUS', subject: { id: usd } });
    some.stop();
    expect(await some.done).toBe(0);
    expect(some.out.map((line) => JSON.parse(line).subject.balance.formatted)).toEqual(['$12.50', '$12.51']);
    await receiveUma(platform, customerId);
    await all.line(/INCOMING_PAYMENT +Transaction:\S+ {2}PENDING {2}\$5\.00$/);
    all.stop();
    expect(await all.done).toBe(0);
    expect(all.err.at(-1)).toMatch(/^To continue: tail --after \S+$/);
  });

  test('follow shows each step of a payment once, even if the connection is dropped, and ends when the payment ends', async () => {
    const past = await run(['trigger', 'transfer-in', '--follow']);
    expect(past).toMatchObject({ code: 0, out: expect.stringContaining('\nCOMPLETED: ') });

    const balancer = await startLoadBalancer();
    balancer.add(t.url);
    const { transaction } = await receiveUma(t.platform, await t.platform.newCustomer());
    const running = start(['follow', transaction.id, '--url', balancer.url], t.platform);
    await running.line(/ PENDING/);
    balancer.cut();
    await running.line(/^Reconnected/);
    // Neither end notices that this connection is dead.
    balancer.halfOpen();
    await t.platform.succeed('approveTransaction', { transactionId: transaction.id });
    expect(await running.done).toBe(0);
    const lost = ['Connection lost. Reconnecting …', 'Reconnected; no event was missed.'];
    expect(running.err).toEqual([...lost, ...lost]);
    const steps = running.out.flatMap((line) => /\+\d+\.\ds {2}(\w+)/.exec(line)?.[1] ?? []);
    const { timeline } = await t.platform.ended(transaction.id);
    expect(steps).toEqual(timeline.map(({ status }: Data) => status));
    expect(steps.length).toBeGreaterThan(1);
    await balancer.close();
  });

  test('follow exits with 130 if it is interrupted before the quote ends', async () => {
    const { id } = await json(['trigger', 'quote-status']);
    const running = start(['follow', id], t.platform);
    await running.line(/ PENDING$/);
    running.stop();
    expect(await running.done).toBe(130);
  });
});
