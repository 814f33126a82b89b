import diagnostics from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { paceOf } from '../../src/api/webhooks/delivery/pace.ts';
import { Sender } from '../../src/api/webhooks/delivery/sender.ts';
import { parseEndpointUrl } from '../../src/api/webhooks/endpoints/endpoint-url.ts';
import { dnsResolver, isPublicAddress, type Resolver } from '../../src/infra/net/addresses.ts';
import { listen } from '../setup/free-port.ts';
import { ownGateway, testGateway } from '../setup/gateway.ts';
import { createEndpoint, endpointUntil, tryCreate } from './endpoint.ts';
import { ownReceiver } from './receiver.ts';

/** The hosts that sockets in this process tried to connect to on port 443. */
let attempted: string[] = [];
const watch = (message: unknown) => {
  const { socket } = message as { socket: Socket };
  socket.on('connectionAttempt', (ip: string, port: number) => {
    if (port === 443) attempted.push(ip);
  });
};
beforeEach(() => {
  attempted = [];
  diagnostics.subscribe('net.client.socket', watch);
});
afterEach(() => {
  diagnostics.unsubscribe('net.client.socket', watch);
});

/** The addresses to which the receivers' names resolve, one entry per lookup. The last entry is repeated. */
const answers = new Map<string, (readonly string[])[]>();
const resolve: Resolver = async (hostname) => {
  const queue = answers.get(hostname) ?? [];
  return (queue.length > 1 ? queue.shift() : queue[0]) ?? [];
};
// At this scale, an endpoint that always fails is disabled after 21 s, long after the five attempts that a test needs.
const t = await testGateway({ WEBHOOK_TIME_SCALE: 20_000 }, undefined, { webhooks: { resolve } });

const message = { loopbackAllowed: true, headers: {}, body: '{}', timeoutMs: 1_000, readAnswer: false };

/** Hosts that denote an internal address, each written differently. */
const insideHosts =
  `localhost LOCALHOST localhost. api.localhost router printer.local vault.internal db.internal. 127.0.0.1 127.1
  127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1 017700000001 0177.0.0.1 0177.0x0.1 127.0.0.1. ①②⑦.⓪.⓪.①
  127。0。0。1 %31%32%37.0.0.1 127.255.255.254 0.0.0.0 0 0x0 10.0.0.1 10.1 172.16.0.1 192.168.1.1 0xc0a80101
  3232235777 100.64.0.1 169.254.169.254 0xa9fea9fe 2852039166 169.254.43518 0251.0376.0251.0376 168.63.129.16
  198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 192.0.2.1 8.8.8.8 [2606:4700::1111] [::1] [0:0:0:0:0:0:0:1] [::]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:a9fe:a9fe] [64:ff9b::7f00:1] [64:ff9b::169.254.169.254]
  [2002:7f00:1::] [2001:0:1::1] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1] [100::1] [2001:db8::1]`.split(
    /\s+/,
  );

test('no spelling of an internal address can be registered', async () => {
  expect(insideHosts.length).toBeGreaterThanOrEqual(60);
  const strict = await ownGateway({ ALLOW_UNSAFE: ['owner-login', 'weak-keys'] });
  for (const host of insideHosts) {
    const refused = await tryCreate(strict.platform, { url: `https://${host}/hooks` });
    expect(refused, host).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'url'] });
    for (const url of [`http://${host}/hooks`, `https://${host}:8443`]) {
      expect(() => parseEndpointUrl(url, false), url).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    }
  }
  expect(attempted).toEqual([]);
});

test('only https on ports 443 and 8443, without credentials, is accepted; the sandbox may also use loopback', () => {
  for (const url of [
    'http://hooks.example.com/',
    'https://hooks.example.com:22/',
    'https://hooks.example.com:8080/',
    'https://user@hooks.example.com/',
    'https://user:word@hooks.example.com/',
    'https://hooks.example.com/#part',
    'https://hooks.example.com\\@127.0.0.1/',
    'https://hooks.example.com/ ',
    'https://hooks.example.com/\n',
    'https://hooks.example.com/\u202emoc',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '//hooks.example.com/',
    'hooks',
    '',
    `https://hooks.example.com/${'a'.repeat(2_048)}`,
  ]) {
    expect(() => parseEndpointUrl(url, true), url).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  }
  for (const url of [
    'https://hooks.example.com/',
    'https://hooks.example.com:8443/a?b=c',
    'https://xn--bcher-kva.example/',
  ])
    expect(parseEndpointUrl(url, false).href).toBe(url);
  for (const url of [
    'http://127.0.0.1:9/',
    'http://localhost:9/',
    'http://[::1]:9/',
    'https://localhost:9/',
    'http://127.1:9/',
  ])
    expect(parseEndpointUrl(url, true).hostname).toMatch(/^(127\.0\.0\.1|localhost|\[::1\])$/);
  for (const url of [
    'http://10.0.0.1/',
    'http://0.0.0.0:9/',
    'http://169.254.169.254/',
    'http://localhost.example.com/',
  ])
    expect(() => parseEndpointUrl(url, true), url).toThrow();
});

/** Addresses to which no connection may be opened, even if a name resolves to them. */
const insideAddresses = [
  ...`127.0.0.1 127.8.8.8 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1
  192.168.255.255 100.64.0.1 100.100.100.200 100.127.255.255 169.254.0.1 169.254.169.254 169.254.170.2
  168.63.129.16 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
  224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1
  ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1
  64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:0:1::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
  2002:7f00:1:: 2002:a00:1:: 2002:a9fe:a9fe:: 3fff::1 4000::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254 fd20:ce::254
  fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 ff02::1 ff0e::1`.split(/\s+/),
  'not an address',
];

test('no connection is made to a name that resolves to an internal address, even if it also resolves to a public one', async () => {
  expect(insideAddresses.length).toBeGreaterThanOrEqual(60);
  let found: readonly string[] = [];
  const sender = new Sender(paceOf(100_000), async () => found);
  const post = (url: string) => sender.post({ ...message, url });
  const error = 'the host name does not resolve to public addresses only';
  for (const address of insideAddresses) {
    expect(isPublicAddress(address), address).toBe(false);
    for (const all of [[address], ['8.8.8.8', address], [address, '2606:4700::1111']]) {
      found = all;
      expect(await post('https://hooks.example.com/'), address).toMatchObject({ error });
    }
  }
  found = [];
  expect(await post('https://hooks.example.com/')).toMatchObject({ error });
  // The sandbox can use the loopback interface, but only if the name resolves to it.
  found = ['10.0.0.1'];
  expect(await post('http://localhost:9/')).toMatchObject({ error });
  expect(attempted).toEqual([]);
  await sender.close();
  for (const address of ['8.8.8.8', '1.1.1.1', '193.0.14.129', '2606:4700::1111', '2a00:1450:4001::1'])
    expect(isPublicAddress(address), address).toBe(true);
});

test("if a name's address changes between check and connection, the checked address is used", async () => {
  // The prefix of 3ffe::1 is unassigned, so no host answers.
  answers.set('flip.example.com', [['3ffe::1'], ['127.0.0.1'], ['3ffe::1', '127.0.0.1'], ['169.254.169.254']]);
  const { id } = await createEndpoint(t.platform, { url: 'https://flip.example.com/hooks' });
  const { deliveries } = await endpointUntil(t.platform, id, (one) => one.deliveries[0]?.attempts.length >= 5);
  expect(attempted).toEqual(['3ffe::1']);
  const errors = deliveries[0].attempts.map((attempt: { error: string }) => attempt.error);
  expect(errors[0]).not.toContain('public addresses');
  expect(new Set(errors.slice(1))).toEqual(new Set(['the host name does not resolve to public addresses only']));
  // Nothing that a platform can see reveals which address the name resolves to.
  expect(JSON.stringify(deliveries)).not.toMatch(/127\.0\.0\.1|169\.254|3ffe/);
});

test('no connection is made to a loopback URL of a production platform, even if one has been stored', async () => {
  const trap = await ownReceiver();
  const sender = new Sender(paceOf(1), resolve);
  const outcome = await sender.post({ ...message, url: trap.url, loopbackAllowed: false });
  expect(outcome.error).toMatch(/^the address is not allowed/);
  expect(trap.connections).toBe(0);
  await sender.close();
});

test('the TLS handshake contains the host name, and proxy variables are ignored', async () => {
  const greetings: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      greetings.push(data.toString('latin1'));
      socket.end('not TLS');
    });
  });
  const port = await listen(server);
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'])
    vi.stubEnv(name, 'http://127.0.0.1:1');
  const sender = new Sender(paceOf(1), async () => ['127.0.0.1']);
  const outcome = await sender.post({ ...message, url: `https://localhost:${port}/`, timeoutMs: 5_000 });
  vi.unstubAllEnvs();
  expect(outcome.error).toBeTypeOf('string');
  expect(greetings).toHaveLength(1);
  expect(greetings[0]).toContain('localhost');
  await sender.close();
  server.close();
});

test('localhost is resolved without a lookup', async () => {
  expect(await dnsResolver('localhost')).toEqual(['127.0.0.1', '::1']);
});
