import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type DirectoryJson, directoryFile, startTestFront } from '../setup/two-clusters.ts';

/** What a front says of itself to Prometheus. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An instance that loses answers to POST, and begins streams that stay open. */
async function startInstance(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    if (request.method === 'POST') return void request.socket.destroy();
    if (request.url !== '/graphql/stream') return void response.writeHead(request.url === '/nothing' ? 404 : 200).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  cleanups.push(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function start(directory: DirectoryJson) {
  const file = directoryFile(directory);
  const front = await startTestFront(file.path);
  cleanups.push(file.remove, () => front.stop());
  const scrape = async () => (await fetch(`${front.metricsUrl}/metrics`)).text();
  const figure = async (series: string) => {
    const line = (await scrape()).split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  return { front, file, scrape, figure };
}

const nowhere = 'http://127.0.0.1:9';

test('requests are counted by cluster and by what came of them, with their time', async () => {
  const { url } = await startInstance();
  const { front, figure } = await start({
    clusters: { north: { instances: [url] }, south: { instances: [nowhere] } },
    default: 'north',
    clients: { south: 'south' },
  });
  const count = (cluster: string, code: string) =>
    figure(`payments_front_request_seconds_count{cluster="${cluster}",code="${code}"}`);
  // What an alert counts has a figure before it rises.
  expect([await count('north', 'lost'), await count('south', 'away')]).toEqual([0, 0]);
  await fetch(`${front.url}/`);
  await fetch(`${front.url}/nothing`);
  await fetch(`${front.url}/graphql`, { method: 'POST', body: '{}' });
  const authorization = `Basic ${Buffer.from('south:secret').toString('base64')}`;
  await fetch(`${front.url}/graphql`, { headers: { authorization } });
  expect([await count('north', '200'), await count('north', '404'), await count('north', 'lost')]).toEqual([1, 1, 1]);
  expect(await count('south', 'away')).toBe(1);
  expect(await figure('payments_front_requests_in_flight{cluster="north"}')).toBe(0);
  expect(await figure('payments_front_request_seconds_sum{cluster="north",code="200"}')).toBeGreaterThan(0);
});

test('instances, streams and sockets are counted as they are now', async () => {
  const instance = await startInstance();
  const { front, file, figure } = await start({
    clusters: { north: { instances: [instance.url, nowhere] } },
    default: 'north',
  });
  const instances = (state: string) => figure(`payments_front_instances{cluster="north",state="${state}"}`);
  const open = () => figure('payments_front_streams{cluster="north",kind="stream"}');
  expect([await instances('READY'), await instances('UNREADY'), await instances('AWAY')]).toEqual([1, 0, 1]);
  const leave = new AbortController();
  const stream = await fetch(`${front.url}/graphql/stream`, { signal: leave.signal });
  expect(await open()).toBe(1);
  const socket = new WebSocket(`${front.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  expect(await figure('payments_front_sockets_waiting')).toBe(1);
  // The instance takes no sockets.
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'close');
  expect(await figure('payments_front_sockets_waiting')).toBe(0);
  expect(await figure('payments_front_sockets_total{cluster="north",outcome="refused"}')).toBe(1);
  leave.abort();
  await stream.text().catch(() => undefined);
  await vi.waitFor(async () => expect(await open()).toBe(0), 5_000);

  await instance.close();
  await fetch(`${front.url}/`);
  expect([await instances('READY'), await instances('AWAY')]).toEqual([0, 2]);

  expect(await figure('payments_front_directory_faulty')).toBe(0);
  file.write({ clusters: {}, default: 'nobody' });
  front.directory.reload();
  expect(await figure('payments_front_directory_faulty')).toBe(1);
});

test('each alert and each panel names metrics that there are, and the page of clusters has all of them', async () => {
  const { url } = await startInstance();
  const { scrape } = await start({ clusters: { north: { instances: [url] } }, default: 'north' });
  const there = new Set([...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  const named = ['front-alerts.yml', 'front-dashboard.json'].flatMap((file) =>
    [...readFileSync(`deploy/prometheus/${file}`, 'utf8').matchAll(/\b((?:payments_front|nodejs|process)_\w+)/g)].map(
      ([, name = '']) => name.replace(/_(bucket|count|sum)$/, ''),
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !there.has(name))).toEqual([]);
  const page = readFileSync('docs/clusters.md', 'utf8');
  const described = new Set([...page.matchAll(/^\| `(payments_front_\w+)`/gm)].map(([, name]) => name));
  expect(described).toEqual(new Set([...there].filter((name) => name.startsWith('payments_front_'))));
  const alerts = [...readFileSync('deploy/prometheus/front-alerts.yml', 'utf8').matchAll(/- alert: (\w+)/g)];
  // A front that does not answer has no metric.
  for (const [, alert = ''] of alerts) if (alert !== 'PaymentsFrontDown') expect(page).toContain(`\`${alert}\``);
});
