import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';

const t = await testGateway();

const kind = '{ viewer { kind } }';
const create =
  'mutation { createCustomer(input: { platformCustomerId: "x", details: { individual: {} } }) { __typename } }';

/** Sends a request as the platform, unless headers say otherwise. */
function http(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
  return fetch(`${t.url}${path}`, { ...init, headers: { authorization: t.platform.authorization, ...init.headers } });
}

const json = { 'content-type': 'application/json' };
const post = (body: string, headers: Record<string, string> = json) =>
  http('/graphql', { method: 'POST', headers, body });

async function customers(): Promise<number> {
  return (await t.platform.ask('{ customers { totalCount } }')).customers.totalCount;
}

/** Sends a chunked body, whose length is not announced. */
function chunked(chunks: readonly string[]): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${t.url}/graphql`,
      { method: 'POST', agent: false, headers: { authorization: t.platform.authorization, ...json } },
      async (response) => {
        response.setEncoding('utf8');
        let body = '';
        response.on('error', () => undefined);
        response.on('data', (data: string) => {
          body += data;
        });
        response.on('close', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sent.on('error', reject);
    Readable.from(chunks).pipe(sent);
  });
}

/** Returns the bytes of a response as they come, and their encoding: `fetch` would decode them. */
function bytesOf(path: string, accepted: string, { method = 'GET', body = '' } = {}): Promise<Bytes> {
  const headers = { authorization: t.platform.authorization, 'accept-encoding': accepted, ...(body && json) };
  return new Promise((resolve, reject) => {
    const sent = request(`${t.url}${path}`, { method, agent: false, headers }, async (response) => {
      const { 'content-encoding': encoding, vary } = response.headers;
      resolve({ bytes: await buffer(response), encoding, vary });
    });
    sent.on('error', reject).end(body);
  });
}

interface Bytes {
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
}

describe('compression', () => {
  const types = '{ __schema { types { name description } } }';
  const long: [string, string, { method: string; body: string }?][] = [
    ['a POST', '/graphql', { method: 'POST', body: JSON.stringify({ query: types }) }],
    ['a GET', `/graphql?query=${encodeURIComponent(types)}`],
    ['REST', '/2025-10-13/openapi.json'],
  ];

  test.each(long)(
    'a long answer to %s is compressed for those who accept it, and the same for all',
    async (_name, ...to) => {
      const [path, sent] = to;
      const plain = await bytesOf(path, 'identity', sent);
      expect(plain.encoding).toBeUndefined();
      const gzipped = await bytesOf(path, 'br;q=1.0, gzip;q=0.8, *;q=0.1', sent);
      expect(gzipped.encoding).toBe('gzip');
      expect(gzipped.vary).toContain('Accept-Encoding');
      expect(gzipped.bytes.length).toBeLessThan(plain.bytes.length / 3);
      expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
    },
  );

  test.each(['gzip;q=0', 'br', 'x-gzip', '*;q=0', 'gzip;q=0, *'])('%s does not ask for gzip', async (accepted) => {
    expect((await bytesOf('/2025-10-13/openapi.json', accepted)).encoding).toBeUndefined();
  });

  test('a short answer is not compressed', async () => {
    expect((await bytesOf(`/graphql?query=${encodeURIComponent(kind)}`, 'gzip')).encoding).toBeUndefined();
  });
});

describe('HTTP', () => {
  test('refuses a mutation by GET, whatever the client accepts', async () => {
    for (const [path, accept] of [
      ['/graphql', 'application/json'],
      ['/graphql', 'application/graphql-response+json'],
      ['/graphql', 'text/event-stream'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const response = await http(`${path}?query=${encodeURIComponent(create)}`, { headers: { accept } });
      expect([path, accept, response.status]).toEqual([path, accept, 405]);
      await response.text();
    }
    expect(await customers()).toBe(0);
  });

  test.each(['/graphql', '/graphql/stream'])('refuses forms and plain text at %s with 415', async (path) => {
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/graphql',
      'application/jsonx',
      '',
    ]) {
      const response = await http(path, { method: 'POST', headers: { 'content-type': type }, body: `query=${kind}` });
      expect([type, response.status]).toEqual([type, 415]);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] });
    }
  });

  test.each(['application/json', 'application/graphql-response+json', 'text/event-stream'])(
    'refuses a body in another encoding with 415, and names the accepted ones: %s',
    async (accept) => {
      const plain = JSON.stringify({ query: kind });
      const send = (body: BodyInit, headers: Record<string, string>) =>
        http('/graphql', { method: 'POST', headers: { ...json, accept, ...headers }, body });
      for (const body of [plain, new Uint8Array(gzipSync(plain))]) {
        const response = await send(body, { 'content-encoding': 'gzip' });
        expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
        expect(await response.text()).toContain('"code":"UNSUPPORTED_MEDIA_TYPE"');
      }
      const latin = await send(plain, { 'content-type': 'application/json; charset=iso-8859-1' });
      expect(latin.status).toBe(415);
      expect(await latin.text()).toContain('"code":"UNSUPPORTED_MEDIA_TYPE"');
      for (const [name, value] of [
        ['content-encoding', 'identity'],
        ['content-type', 'application/json; charset=UTF-8'],
      ] as const) {
        expect(await (await send(plain, { [name]: value })).text()).toContain(
          '{"data":{"viewer":{"kind":"PLATFORM"}}}',
        );
      }
      expect(await (await send(`\ufeff${plain}`, {})).text()).toContain('{"data":{"viewer":{"kind":"PLATFORM"}}}');
    },
  );

  test('refuses parameters of a GET that are not JSON with 400, and names them', async () => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      for (const name of ['variables', 'extensions']) {
        for (const [value, message] of [
          ['{', `${name} is not well-formed JSON`],
          ['[]', expect.stringContaining(name)],
        ]) {
          const response = await http(`/graphql?query=${encodeURIComponent(kind)}&${name}=${value}`, {
            headers: { accept },
          });
          expect(response.status).toBe(400);
          expect(await response.json()).toEqual({ errors: [{ message, extensions: { code: 'BAD_REQUEST' } }] });
        }
      }
    }
  });

  test('refuses a body over 100 KiB with 413, whether its length is announced or not', async () => {
    const long = JSON.stringify({ query: `${kind} #${'x'.repeat(101 * 1024)}` });
    const response = await post(long);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE' } }] });
    expect((await chunked([long.slice(0, 60_000), long.slice(60_000)])).status).toBe(413);
  });

  test('accepts a chunked body', async () => {
    const body = JSON.stringify({ query: `${kind} #${'x'.repeat(50_000)}` });
    const chunks = Array.from({ length: 20 }, (_, index) => body.slice(index * 3_000, (index + 1) * 3_000));
    const { status, body: answer } = await chunked(chunks);
    expect([status, answer]).toEqual([200, JSON.stringify({ data: { viewer: { kind: 'PLATFORM' } } })]);
  });

  test('answers 401 and nothing else to callers without valid credentials', async () => {
    for (const authorization of ['', 'Basic nonsense', `Basic ${Buffer.from('a:b').toString('base64')}`, 'Bearer x']) {
      for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
        const response = await post(JSON.stringify({ query: kind }), { ...json, accept, authorization });
        expect([accept, response.status]).toEqual([accept, 401]);
        expect(await response.text()).toContain('UNAUTHENTICATED');
      }
    }
  });

  test('does not open a stream for unauthenticated callers', async () => {
    for (const method of ['GET', 'POST']) {
      const headers = { ...json, accept: 'text/event-stream', authorization: '' };
      const response = await http('/graphql/stream', { method, headers });
      expect([method, response.status]).toEqual([method, 401]);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    }
  });

  test('reports errors of a stream as its results, without internal details', async () => {
    for (const path of ['/graphql', '/graphql/stream']) {
      for (const query of ['{ nonsense }', '{ viewer', 'subscription { transactionUpdates(after: "x") { status } }']) {
        const headers = { ...json, accept: 'text/event-stream' };
        const response = await http(path, { method: 'POST', headers, body: JSON.stringify({ query }) });
        const text = await response.text();
        expect([path, query, text]).toEqual([path, query, expect.stringMatching(/"errors":\[\{"message":"[^"]/)]);
        expect(text).not.toMatch(/\.ts:|node_modules|"http"/);
      }
    }
  });

  test('serves no other path', async () => {
    expect((await http('/graphql/other')).status).toBe(404);
    expect((await http('/health/live')).status).toBe(200);
    expect((await http('/health/ready')).status).toBe(200);
  });
});

test('a subscription over a transport for one answer is refused, and opens nothing', async () => {
  const query = 'subscription { transactionUpdates { cursor } }';
  const openBefore = t.gateway.feed.subscriptions;
  for (const accept of ['*/*', 'application/json', 'application/graphql-response+json', 'multipart/mixed']) {
    const posted = await t.platform.post({ query }, { accept });
    expect({ accept, status: posted.status }).toEqual({ accept, status: 406 });
    expect(await posted.text()).not.toContain('INTERNAL');
    const got = await http(`/graphql?query=${encodeURIComponent(query)}`, { headers: { accept } });
    expect(got.status).toBeGreaterThanOrEqual(400);
    expect(await got.text()).not.toContain('INTERNAL');
  }
  expect(t.gateway.feed.subscriptions).toBe(openBefore);
});
