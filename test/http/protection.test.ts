import { once } from 'node:events';
import { request } from 'node:http';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../src/config.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from '../setup/child-gateway.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';

/** How responses are protected in browsers, and who may see the pages. */

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

const get = (path: string, headers: Readonly<Record<string, string>> = {}, of = t) =>
  fetch(`${of.url}${path}`, { headers: { authorization: of.platform.authorization, ...headers } });

test.each([
  ['an answer of GraphQL', '/graphql?query={viewer{kind}}', 200],
  ['a refusal of GraphQL', '/graphql?query={', 400],
  ['an answer of REST', '/2025-10-13/customers', 200],
  ['a refusal of REST', '/2025-10-13/quotes/Quote:nothing', 404],
  ['readiness', '/health/ready', 200],
  ['a wrong path', '/nothing', 404],
])('%s is neither guessed, framed nor stored', async (_name, path, status) => {
  const { status: actual, headers } = await get(path, { accept: 'application/graphql-response+json' });
  expect(actual).toBe(status);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
});

test('an event stream is not stored either', async () => {
  const stream = await get('/graphql?query=subscription{transactionUpdates{status}}', { accept: 'text/event-stream' });
  expect(stream.status).toBe(200);
  expect(stream.headers.get('cache-control')).toMatch(/no-store|no-cache/);
  await stream.body?.cancel();
});

test('the pages run no script but their own', async () => {
  const docs = await get('/2025-10-13/docs');
  expect(docs.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'unsafe-inline';/);
  const shown = await startTestGateway({ ROLE: 'serve', GRAPHIQL: true }, t.databaseUrl);
  const page = await get('/graphql', { accept: 'text/html' }, shown);
  expect(page.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
  expect(await page.text()).toMatch(
    /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/,
  );
  await shown.stop();
});

test('outside the sandbox strangers are shown neither GraphiQL nor, in production, the OpenAPI document', async () => {
  const database = { DATABASE_URL: 'postgres://somebody@database/payments' };
  expect(readConfig({}).GRAPHIQL).toBe(true);
  expect(readConfig(database)).toMatchObject({ GRAPHIQL: false, OPENAPI: true });
  expect(readConfig({ ...database, NODE_ENV: 'production' })).toMatchObject({ GRAPHIQL: false, OPENAPI: false });
  expect(readConfig({ ...database, GRAPHIQL: 'on' }).GRAPHIQL).toBe(true);

  const closed = await startTestGateway({ ROLE: 'serve', GRAPHIQL: false, OPENAPI: false }, t.databaseUrl);
  expect((await fetch(`${closed.url}/2025-10-13/openapi.json`)).status).toBe(401);
  expect((await fetch(`${closed.url}/2025-10-13/docs`)).status).toBe(401);
  expect(
    (await fetch(`${closed.url}/graphql`, { headers: { accept: 'text/html' } })).headers.get('content-type') ?? '',
  ).not.toContain('html');
  await closed.stop();
});

/** Asks as a browser does before a page of an origin sends a request. @returns the headers of the answer */
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

test('outside the sandbox a page of this machine is as foreign as any other', async () => {
  for (const origin of ['http://localhost:5173', 'https://app.example']) {
    expect((await preflight(t.url, origin)).get('access-control-allow-origin')).toBeNull();
  }
  expect((await preflight(t.url, t.url)).get('access-control-allow-origin')).toBe(t.url);
});

describe('the sandbox, whose credentials everybody knows', () => {
  let gateway: ChildGateway;
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
    gateway = await startChildGateway({ DATA_DIR: data.path });
  });
  afterAll(async () => {
    expect(await gateway?.end('SIGINT')).toBe(0);
    await data?.remove();
  });

  /** The status of a GET that names a host. `fetch` names the one that it calls. */
  async function statusAt(path: string, host: string): Promise<number | undefined> {
    const { port } = new URL(gateway.url);
    const sent = request({ host: '127.0.0.1', port, path, headers: { host, accept: 'text/html' } }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    return response.statusCode;
  }

  test.each(['http://localhost:5173', 'https://app.localhost', 'http://127.0.0.1:1', 'http://[::1]:3000'])(
    'lets a page of %s call it',
    async (origin) => {
      expect((await preflight(gateway.url, origin)).get('access-control-allow-origin')).toBe(origin);
    },
  );

  test('lets the headers through that a client of Apollo sends', async () => {
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
    const allowed = (await preflight(gateway.url, 'http://localhost:5173', sent)).get('access-control-allow-headers');
    expect(allowed?.split(', ')).toEqual(expect.arrayContaining([...sent]));
  });

  test('lets no other page call it, and logs once which setting would', async () => {
    for (const origin of ['https://app.example', 'https://app.example', 'http://localhost.example', 'null']) {
      expect((await preflight(gateway.url, origin)).get('access-control-allow-origin')).toBeNull();
    }
    const logged = (text: string) => gateway.output().split(text).length - 1;
    await vi.waitFor(() => expect(logged('"setting":"CORS_ORIGINS=*"')).toBe(1));
    expect(logged('"setting":"CORS_ORIGINS=https://app.example"')).toBe(1);
    expect(logged('"setting":"CORS_ORIGINS=http://localhost.example"')).toBe(1);
  });

  test.each(['127.0.0.1:4000', '127.8.8.8', 'localhost', 'LOCALHOST:80', 'gateway.localhost:1', '[::1]:4000'])(
    'answers at %s',
    async (host) => {
      expect(await statusAt('/graphql', host)).toBe(200);
      expect(await statusAt('/2025-10-13/docs', host)).toBe(200);
    },
  );

  test.each(['rebound.example', '192.0.2.7:4000', 'localhost.example', '127.0.0.1.example', '[::ffff:192.0.2.7]'])(
    'does not answer at %s, which a foreign page can make point here',
    async (host) => {
      for (const path of ['/graphql', '/2025-10-13/docs', '/health/live']) expect(await statusAt(path, host)).toBe(421);
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
