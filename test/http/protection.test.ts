import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { parse } from 'graphql';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../src/server/config.ts';
import { prepareSandboxPlatform } from '../../src/server/start/sandbox-platform.ts';
import { ownGateway, testGateway } from '../setup/gateway.ts';
import { answerTo } from '../setup/raw-http.ts';
import { openRawSocket } from '../setup/streams.ts';

/** Tests how responses are protected in browsers and who may see the pages. */

const t = await testGateway();

const get = (path: string, headers: Readonly<Record<string, string>> = {}, of: { readonly url: string } = t) =>
  fetch(`${of.url}${path}`, { headers: { authorization: t.platform.authorization, ...headers } });

test.each([
  ['a GraphQL answer', '/graphql?query={viewer{kind}}', 200],
  ['a GraphQL refusal', '/graphql?query={', 400],
  ['a REST response', '/2025-10-13/customers', 200],
  ['a REST refusal', '/2025-10-13/quotes/Quote:nothing', 404],
  ['readiness', '/health/ready', 200],
  ['a wrong path', '/nothing', 404],
])('%s forbids sniffing, framing and caching', async (_name, path, status) => {
  const { status: actual, headers } = await get(path, { accept: 'application/graphql-response+json' });
  expect(actual).toBe(status);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
});

test('an event stream forbids caching', async () => {
  const stream = await get('/graphql?query=subscription{transactionUpdates{status}}', { accept: 'text/event-stream' });
  expect(stream.status).toBe(200);
  expect(stream.headers.get('cache-control')).toMatch(/no-store|no-cache/);
  await stream.body?.cancel();
});

test.each([
  ['/lab/', '/lab'],
  ['/docs/', '/docs'],
  ['/2025-10-13', '/2025-10-13/docs'],
  ['/2025-10-13/docs/?q=1', '/2025-10-13/docs?q=1'],
])('a browser at %s is led to %s', async (path, page) => {
  const shown = await ownGateway({ ROLE: 'serve', GRAPHIQL: true }, t.databaseUrl);
  const answer = await get(path, { accept: 'text/html' }, shown);
  expect([answer.status, answer.url]).toEqual([200, `${shown.url}${page}`]);
  expect(await answer.text()).toContain('Payments');
});

test('the pages run only their own scripts', async () => {
  const shown = await ownGateway({ ROLE: 'serve', GRAPHIQL: true }, t.databaseUrl);
  const lab = await get('/graphql?query={viewer{kind}}', { accept: 'text/html' }, shown);
  expect(lab.url).toBe(`${shown.url}/lab?query={viewer{kind}}`);
  expect(lab.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; worker-src 'self';/,
  );
  const console = await get('/2025-10-13/docs', { accept: 'text/html' }, shown);
  expect(console.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  const page = `${await lab.text()}${await console.text()}`;
  expect(page).not.toContain('sandbox');
  const files = [...page.matchAll(/(?:src|href)="(?:\.\.?\/)+(assets\/[^"]+)"/g)].map(([, file]) => `/${file}`);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const answer = await get(file, {}, shown);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    await answer.text();
  }
});

test('security.txt says where to report a vulnerability, if the operator has set a contact', async () => {
  const contact = 'mailto:security@payments.example';
  const said = await ownGateway({ ROLE: 'serve', SECURITY_CONTACT: contact }, t.databaseUrl);
  const answer = await fetch(`${said.url}/.well-known/security.txt`);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const { Contact, Expires = '' } = Object.fromEntries(
    (await answer.text()).split('\n').map((line) => line.split(/: (.*)/)),
  );
  expect(Contact).toBe(contact);
  expect(Date.parse(Expires)).toBeGreaterThan(Date.now());
  expect(Date.parse(Expires)).toBeLessThan(Date.now() + 366 * 24 * 3_600_000);
  expect((await fetch(`${t.url}/.well-known/security.txt`)).status).toBe(404);
});

test('the documentation is readable in a browser, and its links work', async () => {
  const read = async (path: string) => {
    const page = await get(path, { accept: 'text/html' });
    return { status: page.status, text: await page.text(), policy: page.headers.get('content-security-policy') };
  };
  const seen = new Map<string, string>();
  const wanted = ['/docs'];
  for (const path of wanted) {
    const { status, text, policy } = await read(path);
    expect([path, status]).toEqual([path, 200]);
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text, path).not.toMatch(/<[^>]* style="/);
    seen.set(path, text);
    for (const [, link = ''] of text.matchAll(/href="([^"]+)"/g)) {
      const to = new URL(link, `${t.url}${path}`);
      if (to.origin !== t.url || !/^\/docs(\/|$)/.test(to.pathname)) continue;
      if (!wanted.includes(to.pathname)) wanted.push(to.pathname);
    }
  }
  expect(seen.get('/docs/README.md')).toContain('<h2 id="start">');
  for (const [path, text] of seen) {
    for (const [, link = ''] of text.matchAll(/href="([^"]*#[^"]+)"/g)) {
      const to = new URL(link, `${t.url}${path}`);
      const target = to.origin === t.url ? seen.get(to.pathname) : undefined;
      if (target) expect(target, `${path} to ${link}`).toContain(`id="${decodeURIComponent(to.hash.slice(1))}"`);
    }
  }
  for (const path of ['/docs/../package.json', '/docs/package.json', '/docs/src/config.ts', '/docs/%2e%2e/.npmrc']) {
    expect((await read(path)).status).toBe(404);
  }
});

test('programs get the documentation as Markdown, and llms.txt lists all of it', async () => {
  const list = await get('/llms.txt', { accept: '*/*' });
  expect(list.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  const named = [...(await list.text()).matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, path]) => `/${path}`);
  const files: string[] = [];
  for await (const file of glob(['*.md', 'docs/**/*.md', 'bench/*.md', 'src/**/*.md'])) files.push(file);
  const others = files.filter((file) => file !== 'docs/README.md');
  expect(named.toSorted()).toEqual(others.map((file) => `/docs/${file}`).toSorted());
  for (const path of named) {
    const page = await get(path, { accept: 'text/markdown, */*;q=0.1' });
    expect([page.headers.get('content-type'), page.headers.get('vary')]).toEqual([
      'text/markdown; charset=utf-8',
      'accept',
    ]);
    expect(await page.text()).toBe(await readFile(path.slice('/docs/'.length), 'utf8'));
  }
});

test('the documentation can be searched, and each result links to its section', async () => {
  const search = async (words: string) =>
    (await get(`/docs?q=${encodeURIComponent(words)}`, { accept: 'text/html' })).text();
  expect(await search('rotate key')).toContain('<a href="./docs/docs/operating.md#rotate-a-key">');
  expect(await search('rotate key')).toContain('<h1>Search results</h1>');
  expect(await search('rotate c++')).not.toContain('<mark>c</mark>');
  expect(await search('Rotate key')).toContain('<mark>rotates</mark>');
  const question = await search('How do I freeze a customer?');
  expect(/<li><a[^>]*>([^<]*)/.exec(question)?.[1]).toBe('Freeze a customer or an account');
  expect(question).not.toMatch(/<mark>(?:a|i)<\/mark>/i);
  expect(await search('auth')).toContain('>Authentication</a>');
  expect(await search('PgBouncer primary installation')).not.toMatch(/[─│]|──►| \| /);
  expect(await search('how a replica grows')).toMatch(/ · /);
  expect(await search('IP ranges')).toMatch(/<mark>IP<\/mark>/);
  expect(await search('CORS')).not.toContain('>Correct a balance</a>');
  expect(await search('sandboxScenario')).toContain('>By sandboxScenario</a>');
  expect(await search('unicornless')).toMatch(/No section contains all of these words.*<a href=".\/docs">/);
  expect(await search('  ')).toContain('<h1 id="docs">Docs</h1>');
  expect(await search('refund unicorns')).toMatch(/These contain some of them.*Refunds<\/a>/s);
  expect(await search('"><script>')).not.toContain('<script>');
});

test.each([
  ['webhook retry', 'Webhooks › Retries'],
  ['how do I refund a payment', 'Concepts › Refunds'],
  ['api token', 'Create the API token'],
  ['how long does a payment take', 'Duration of a payment'],
  ['timeout', 'Errors › Retries and timeouts'],
  ['retries', 'Webhooks › Retries'],
  ['refunded', 'Concepts › Refunds'],
  ['stream', 'Streams'],
  ['how to retry safely after a timeout', 'Errors › Retries and timeouts'],
  ['how to show money in the right currency', 'Money and rates › Amounts'],
  ['list payments of a customer', 'Lists of a customer or an account'],
  ['how to make a payment fail', 'The first five minutes › 4. Fail on purpose'],
])('a search for “%s” lists the expected section among its first two results', async (words, expected) => {
  const page = await (await get(`/docs?q=${encodeURIComponent(words)}`, { accept: 'text/html' })).text();
  const hits = [...page.matchAll(/<li><a[^>]*>([^<]*)<\/a> <span class="quiet">([^<]*)/g)];
  expect(
    hits
      .slice(0, 2)
      .map(([, section, title]) => `${title} › ${section}`)
      .join('\n'),
  ).toContain(expected);
});

test('production hides GraphiQL and the OpenAPI document from unauthenticated visitors', async () => {
  const database = { DATABASE_URL: 'postgres://somebody@database/payments' };
  expect(readConfig({}).GRAPHIQL).toBe(true);
  expect(readConfig(database)).toMatchObject({ GRAPHIQL: false, PUBLIC_CONTRACT: true });
  expect(readConfig({ ...database, NODE_ENV: 'production' })).toMatchObject({
    GRAPHIQL: false,
    PUBLIC_CONTRACT: false,
  });
  expect(readConfig({ ...database, GRAPHIQL: 'on' }).GRAPHIQL).toBe(true);

  const closed = await ownGateway({ ROLE: 'serve', GRAPHIQL: false, PUBLIC_CONTRACT: false }, t.databaseUrl);
  expect((await fetch(`${closed.url}/2025-10-13/openapi.json`)).status).toBe(401);
  expect((await fetch(`${closed.url}/2025-10-13/docs`)).status).toBe(401);
  expect(
    (await fetch(`${closed.url}/graphql`, { headers: { accept: 'text/html' } })).headers.get('content-type') ?? '',
  ).not.toContain('html');
  for (const path of ['/lab', '/docs']) expect((await fetch(`${closed.url}${path}`)).status).toBe(404);
});

/**
 * Sends the request that a browser sends before a page calls another origin.
 * @returns the response headers
 */
async function preflight(url: string, origin: string, headers: readonly string[] = []): Promise<Headers> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': headers.join(','),
    },
  });
  expect(answer.status).toBe(204);
  return answer.headers;
}

test('outside the sandbox, a page from localhost is treated like a page from any other site', async () => {
  for (const origin of ['http://localhost:5173', 'https://app.example']) {
    expect((await preflight(t.url, origin)).get('access-control-allow-origin')).toBeNull();
  }
  expect((await preflight(t.url, t.url)).get('access-control-allow-origin')).toBe(t.url);
});

test('pages from other origins may call the service and open sockets only if the settings allow it', async () => {
  const app = 'https://app.example';
  const { url } = await ownGateway({ ROLE: 'serve', CORS_ORIGINS: [app] }, t.databaseUrl);
  const answer = await t.platform.at(url).post({ query: '{ viewer { kind } }' }, { origin: app });
  expect(answer.headers.get('access-control-allow-origin')).toBe(app);
  expect(await answer.json()).toEqual({ data: { viewer: { kind: 'PLATFORM' } } });
  for (const [origin, isAllowed] of [
    [app, true],
    ['https://evil.example', false],
    [url, true],
  ] as const) {
    const headers = await preflight(url, origin, ['authorization']);
    const expected = isAllowed ? [origin, 'authorization'] : [null, null];
    expect(['origin', 'headers'].map((name) => headers.get(`access-control-allow-${name}`))).toEqual(expected);
    const socket = await openRawSocket(url, t.platform.authorization, { origin }).catch(() => undefined);
    expect(socket?.socket.readyState === WebSocket.OPEN).toBe(isAllowed);
    socket?.socket.close();
  }
});

test('for an unknown path, a browser gets a page, and a program gets JSON', async () => {
  const page = await get('/no<thing', { accept: 'text/html,*/*;q=0.8' });
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('This service has nothing at <code>/no%3Cthing</code>.');
  expect(await (await get('/no<thing')).json()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('outside the sandbox, the front page shows no credentials and no links to hidden pages', async () => {
  const closed = await ownGateway({ ROLE: 'serve', GRAPHIQL: false, PUBLIC_CONTRACT: false }, t.databaseUrl);
  const [page, links] = [await get('/', { accept: 'text/html' }, closed), await get('/', {}, closed)];
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(await page.text()).not.toMatch(/secret|<script|docs/);
  expect(await links.json()).toEqual({ graphql: '/graphql', rest: '/2025-10-13', health: '/health/ready' });
});

describe('the sandbox, whose credentials are public,', async () => {
  const lines: string[] = [];
  const parts = {
    sandbox: await prepareSandboxPlatform(t.gateway.payments),
    log: pino({ level: 'warn' }, { write: (line) => lines.push(line) }),
  };
  const gateway = await testGateway({ ROLE: 'serve', GRAPHIQL: true, METRICS_PORT: 0 }, t.databaseUrl, parts);

  /** Sends a GET with the given Host header; `fetch` would send the URL's host. */
  const getFrom = (host: string, path: string) =>
    answerTo(gateway.url, { path, headers: { host, accept: 'text/html' } });

  async function statusAt(path: string, host: string): Promise<number | undefined> {
    const response = await getFrom(host, path);
    response.resume();
    return response.statusCode;
  }

  test('has a front page that shows its credentials and whose links work', async () => {
    const page = await (await get('/', { accept: 'text/html' }, gateway)).text();
    expect(page).toContain('clientId <code>sandbox</code>, secret <code>sandbox</code>');
    expect(page).toContain(`curl -s -u sandbox:sandbox ${gateway.url}/graphql`);
    expect(await text(await getFrom('elsewhere.localhost:1', '/'))).toBe(page);
    const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(links).toEqual(expect.arrayContaining(['./lab', './docs', './2025-10-13/docs']));
    for (const link of links) {
      const { status } = await fetch(new URL(link, gateway.url), { headers: { accept: 'text/html' } });
      expect([link, status]).toEqual([link, 200]);
    }
  });

  test.each(['http://localhost:5173', 'https://app.localhost', 'http://127.0.0.1:1', 'http://[::1]:3000'])(
    'lets a page at %s call it',
    async (origin) => {
      expect((await preflight(gateway.url, origin)).get('access-control-allow-origin')).toBe(origin);
    },
  );

  test('accepts the headers that Apollo Client sends, and any others', async () => {
    let sent: readonly string[] = [];
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({
        uri: 'http://nowhere/graphql',
        headers: { 'apollo-require-preflight': 'true', authorization: 'Basic x' },
        fetch: async (_uri, init) => {
          sent = [...new Headers(init?.headers as Record<string, string>).keys()];
          return Response.json({ data: { viewer: { kind: 'PLATFORM' } } });
        },
      }),
      clientAwareness: { name: 'app', version: '1.0.0' },
    });
    await client.query({ query: parse('{ viewer { kind } }') });
    expect(sent).toContain('apollographql-client-name');
    const all = [...sent, 'mcp-protocol-version', 'traceparent'];
    const allowed = (await preflight(gateway.url, 'http://localhost:5173', all)).get('access-control-allow-headers');
    expect(allowed?.split(/, ?/)).toEqual(all);
  });

  test('does not let other pages call it, and logs once which setting would allow it', async () => {
    for (const origin of ['https://app.example', 'https://app.example', 'http://localhost.example', 'null']) {
      expect((await preflight(gateway.url, origin)).get('access-control-allow-origin')).toBeNull();
    }
    const logged = (text: string) => lines.filter((line) => line.includes(text)).length;
    await expect.poll(() => logged('"setting":"CORS_ORIGINS=*"')).toBe(1);
    expect(logged('"setting":"CORS_ORIGINS=https://app.example"')).toBe(1);
    expect(logged('"setting":"CORS_ORIGINS=http://localhost.example"')).toBe(1);
  });

  test.each(['127.0.0.1:4000', '127.8.8.8', 'localhost', 'LOCALHOST:80', 'gateway.localhost:1', '[::1]:4000'])(
    'responds at %s',
    async (host) => {
      expect(await statusAt('/lab', host)).toBe(200);
      expect(await statusAt('/2025-10-13/docs', host)).toBe(200);
    },
  );

  test.each(['rebound.example', '192.0.2.7:4000', 'localhost.example', '127.0.0.1.example', '[::ffff:192.0.2.7]'])(
    'refuses requests for %s, a host that another site could point at this service',
    async (host) => {
      for (const path of ['/graphql', '/mcp', '/2025-10-13/docs', '/health/live'])
        expect(await statusAt(path, host)).toBe(421);
      const origin = `http://${host}`;
      const socket = new WebSocket(gateway.url.replace('http', 'ws').concat('/graphql'), 'graphql-transport-ws', {
        headers: { host },
        origin,
      });
      const [error] = await once(socket, 'error');
      expect(String(error)).toContain('403');
    },
  );
});
