import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { answerTo } from '../setup/raw-http.ts';

const t = await testGateway();

const kind = '{ viewer { kind } }';

const json = { 'content-type': 'application/json' };

/** Returns the bytes of a response as they arrive, and their encoding. `fetch` would decode them. */
async function bytesOf(path: string, accepted: string, { method = 'GET', body = '' } = {}) {
  const headers = { authorization: t.platform.authorization, 'accept-encoding': accepted, ...(body && json) };
  const response = await answerTo(`${t.url}${path}`, { method, headers }, body);
  const { 'content-encoding': encoding, vary } = response.headers;
  return { bytes: await buffer(response), encoding, vary };
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

  test.each(['gzip;q=0', 'br', 'x-gzip', '*;q=0', 'gzip;q=0, *'])('%s does not request gzip', async (accepted) => {
    expect((await bytesOf('/2025-10-13/openapi.json', accepted)).encoding).toBeUndefined();
  });

  test('a short response is not compressed', async () => {
    expect((await bytesOf(`/graphql?query=${encodeURIComponent(kind)}`, 'gzip')).encoding).toBeUndefined();
  });
});

test('a chunked body is accepted', async () => {
  const body = JSON.stringify({ query: `${kind} #${'x'.repeat(50_000)}` });
  const chunks = Array.from({ length: 20 }, (_, index) => body.slice(index * 3_000, (index + 1) * 3_000));
  const headers = { authorization: t.platform.authorization, ...json };
  const answer = await answerTo(`${t.url}/graphql`, { method: 'POST', headers }, Readable.from(chunks));
  expect([answer.statusCode, await text(answer)]).toEqual([
    200,
    JSON.stringify({ data: { viewer: { kind: 'PLATFORM' } } }),
  ]);
});
