import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { answerTo, exchange } from '../setup/raw-http.ts';
import { openRawSocket } from '../setup/streams.ts';

/** One request for each requirement of GraphQL over HTTP (draft of 2026-08-06) and of the QUERY method (RFC 10008). */
const t = await testGateway();
const throughYoga = await testGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: { throughYoga: true } });

const json = 'application/json';
const response = 'application/graphql-response+json';
const kind = '{ viewer { kind } }';
const data = { data: { viewer: { kind: 'PLATFORM' } } };
const mutation =
  'mutation { createCustomer(input: { platformCustomerId: "x", details: { individual: {} } }) { __typename } }';
const partial = '{ viewer { kind } transactions(after: "x") { totalCount } }';
const needsId = 'query ($id: ID!) { node(id: $id) { id } }';
const subscription = 'subscription { transactionUpdates { cursor } }';

interface Sent {
  readonly method?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The parameters of the URL. */
  readonly search?: Readonly<Record<string, string>>;
  /** The body: as JSON, or raw. */
  readonly body?: object | string | Uint8Array;
}

interface Expected {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly code?: string;
}

type Row = readonly [what: string, sent: Sent, expected: Expected];

const error = (code: string) => ({ errors: [{ message: expect.any(String), extensions: { code } }] });
const get = (search: Readonly<Record<string, string>>, accept = response): Sent => ({ method: 'GET', search, accept });
const query = (body: object | string, more: Sent = {}): Sent => ({ method: 'QUERY', accept: response, body, ...more });
const ok = (type: string): Expected => ({ status: 200, type, body: data });
const wrong = (status: number, code: string, type = response): Expected => ({ status, type, code });

const mediaTypes: readonly Row[] = [
  ['the type of GraphQL responses', { accept: response }, ok(response)],
  ['the type that legacy clients accept', { accept: json }, ok(json)],
  ['no Accept', { headers: { accept: undefined } }, ok(json)],
  ['an empty Accept', { accept: '' }, ok(json)],
  ['anything', { accept: '*/*' }, ok(json)],
  ['a wildcard subtype', { accept: 'application/*' }, ok(json)],
  ['what the draft recommends', { accept: `${response}, ${json};q=0.9` }, ok(response)],
  ['the preferred type last', { accept: `${json};q=0.9, ${response}` }, ok(response)],
  ['the less preferred type first', { accept: `${response};q=0.1, ${json};q=0.2` }, ok(json)],
  ['equal weights, with the response type first', { accept: `${response}, ${json}` }, ok(response)],
  ['equal weights, with the JSON type first', { accept: `${json}, ${response}` }, ok(json)],
  ['a refused type and another one', { accept: `${response};q=0, ${json}` }, ok(json)],
  ['a refused type and a wildcard', { accept: `${json};q=0, */*` }, ok(response)],
  ['a type and a wildcard with a lower weight', { accept: `${response}, */*;q=0.1` }, ok(response)],
  ['an unknown type and a known one with a lower weight', { accept: `text/html, ${json};q=0.5` }, ok(json)],
  ['names in mixed case', { accept: 'Application/GraphQL-Response+JSON' }, ok(response)],
  ['spaces around everything', { accept: ` ${response} ; q=1 , ${json} ; q=0.5 ` }, ok(response)],
  ['the charset of the response', { accept: `${response}; charset=utf-8` }, ok(response)],
  [
    "urql's types",
    { accept: `${response}, application/graphql+json, ${json}, text/event-stream, multipart/mixed` },
    ok(response),
  ],
  ["Apollo's multipart type", { accept: `multipart/mixed;deferSpec=20220824,${response},${json};q=0.9` }, ok(response)],
  ['a type that is not served', { accept: 'text/html' }, wrong(406, 'NOT_ACCEPTABLE', json)],
  ['multipart alone', { accept: 'multipart/mixed' }, wrong(406, 'NOT_ACCEPTABLE', json)],
  ['served types that are all refused', { accept: `${json};q=0, ${response};q=0` }, wrong(406, 'NOT_ACCEPTABLE', json)],
  ['another charset', { accept: `${json}; charset=iso-8859-1` }, wrong(406, 'NOT_ACCEPTABLE', json)],
  ['a subscription that accepts a single response', { body: { query: subscription } }, wrong(406, 'NOT_ACCEPTABLE')],
  [
    'a subscription that accepts any type',
    { accept: '*/*', body: { query: subscription } },
    wrong(406, 'NOT_ACCEPTABLE', json),
  ],
];

const ofType = (type: string | undefined, more: Sent = {}): Sent => ({ headers: { 'content-type': type }, ...more });
const unsupported = wrong(415, 'UNSUPPORTED_MEDIA_TYPE', json);

const bodies: readonly Row[] = [
  ['JSON with its charset', ofType('application/json; charset=utf-8'), ok(response)],
  ['a character beyond ASCII', { body: { query: `${kind} # Run🏃` } }, ok(response)],
  ['a byte order mark', { body: `\ufeff${JSON.stringify({ query: kind })}` }, ok(response)],
  ['no type', ofType(undefined, { body: new Uint8Array(Buffer.from('{}')) }), unsupported],
  ['a form', ofType('application/x-www-form-urlencoded'), unsupported],
  ['plain text', ofType('text/plain'), unsupported],
  ['another charset', ofType('application/json; charset=latin1'), unsupported],
  [
    'a compressed body',
    { headers: { 'content-encoding': 'gzip' } },
    { ...unsupported, headers: { 'accept-encoding': 'identity' } },
  ],
  ['a body that is too long', { body: 'x'.repeat(101 * 1024) }, wrong(413, 'PAYLOAD_TOO_LARGE', json)],
  ['no body', { body: '' }, wrong(400, 'BAD_REQUEST')],
  ['nonsense', { body: 'NONSENSE' }, wrong(400, 'BAD_REQUEST')],
  ['nonsense from a legacy client', { body: '{"query":', accept: json }, wrong(400, 'BAD_REQUEST', json)],
  ['bytes that are not UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]) }, wrong(400, 'BAD_REQUEST')],
  ['several operations', { body: [{ query: kind }] }, wrong(400, 'BAD_REQUEST')],
  ['not a map', { body: '"query"' }, wrong(400, 'BAD_REQUEST')],
];

const asking = (text: unknown, more: object = {}): Sent => ({ body: { query: text, ...more } });

const parameters: readonly Row[] = [
  ['the name of the operation', asking(`query A ${kind} query B { __typename }`, { operationName: 'A' }), ok(response)],
  [
    'null for each optional member',
    asking(kind, { operationName: null, variables: null, extensions: null }),
    ok(response),
  ],
  ['maps of variables and extensions', asking(kind, { variables: {}, extensions: { any: 'thing' } }), ok(response)],
  ['members of other protocols', asking(kind, { id: 7, onError: 'NULL', doc_id: { a: 1 } }), ok(response)],
  ['a misspelled member alone', { body: { qeury: kind } }, wrong(400, 'BAD_REQUEST')],
  ...[{ obj: 'ect' }, 0, false, ['array'], null].map(
    (value): Row => [`a query that is ${JSON.stringify(value)}`, asking(value), wrong(400, 'BAD_REQUEST')],
  ),
  ...[
    ...[{ obj: 'ect' }, 0, false, ['array']].map((value) => ['operationName', value] as const),
    ...['variables', 'extensions'].flatMap((name) =>
      ['text', 0, false, ['array']].map((value) => [name, value] as const),
    ),
  ].map(([name, value]): Row => {
    return [`${name} given as ${JSON.stringify(value)}`, asking(kind, { [name]: value }), wrong(400, 'BAD_REQUEST')];
  }),
];

const large = `{ viewer { ${'kind '.repeat(600)} } }`;
const legacy = (text: string): Sent => ({ accept: json, body: { query: text } });

const outcomes: readonly Row[] = [
  ['a document that cannot be parsed', asking('{'), wrong(400, 'GRAPHQL_PARSE_FAILED')],
  ['a document that is not valid', asking('{ nope }'), wrong(422, 'GRAPHQL_VALIDATION_FAILED')],
  ['a document beyond the limits', asking(large), wrong(422, 'COST_LIMIT_EXCEEDED')],
  ['the same from a legacy client', legacy(large), wrong(200, 'COST_LIMIT_EXCEEDED', json)],
  ['no such operation', asking(`query A ${kind}`, { operationName: 'B' }), wrong(422, 'OPERATION_RESOLUTION_FAILURE')],
  ['two operations but no name', asking(`query A ${kind} query B ${kind}`), wrong(422, 'OPERATION_RESOLUTION_FAILURE')],
  ['a variable of the wrong type', asking(needsId, { variables: { id: { a: 1 } } }), wrong(422, 'INVALID_INPUT')],
  ['a variable without a value', asking(needsId), wrong(400, 'INVALID_INPUT')],
  ['null for a variable that needs a value', asking(needsId, { variables: { id: null } }), wrong(400, 'INVALID_INPUT')],
  [
    'an unused variable without a value',
    asking('query ($id: ID!) { __typename }'),
    wrong(400, 'GRAPHQL_VALIDATION_FAILED'),
  ],
  ['a variable without a value, from a legacy client', legacy(needsId), wrong(200, 'INVALID_INPUT', json)],
  ['an invalid document from a legacy client', legacy('{ nope }'), wrong(200, 'GRAPHQL_VALIDATION_FAILED', json)],
  ['data alongside errors', asking(partial), wrong(294, 'INVALID_INPUT')],
  ['data alongside errors, for a legacy client', legacy(partial), wrong(200, 'INVALID_INPUT', json)],
  [
    "a mutation with the header for REST's keys",
    { headers: { 'idempotency-key': 'k' }, body: { query: mutation } },
    wrong(400, 'INVALID_INPUT'),
  ],
  [
    "a mutation with REST's header for the expected version",
    { headers: { 'if-match': '"1"' }, body: { query: mutation } },
    wrong(400, 'INVALID_INPUT'),
  ],
  [
    'an unknown hash',
    { body: { documentId: `sha256:${'0'.repeat(64)}` } },
    wrong(400, 'PERSISTED_QUERY_NOT_SUPPORTED'),
  ],
  ['wrong credentials', { headers: { authorization: 'Bearer x' } }, wrong(401, 'UNAUTHENTICATED')],
  [
    'wrong credentials, reported before the method',
    { method: 'PUT', headers: { authorization: '' } },
    wrong(401, 'UNAUTHENTICATED'),
  ],
];

const byPostAlone = { ...wrong(405, 'METHOD_NOT_ALLOWED'), headers: { allow: 'POST' } };
const node = { status: 200, body: { data: { node: null } } };
const allowed = { allow: 'GET, HEAD, QUERY, POST, OPTIONS' };

const methods: readonly Row[] = [
  ['a query in the URL', get({ query: kind }), ok(response)],
  ['a query in the URL, from a legacy client', get({ query: kind }, json), ok(json)],
  [
    'variables and extensions in the URL',
    get({ query: needsId, variables: '{"id":"x"}', extensions: '{"any":1}' }),
    node,
  ],
  ['empty parameters', get({ query: kind, operationName: '', variables: '', extensions: '' }), ok(response)],
  ['unknown parameters', get({ query: kind, foo: 'bar' }), ok(response)],
  [
    'an operation named null',
    get({ query: `query null ${kind} query B ${kind}`, operationName: 'null' }),
    ok(response),
  ],
  ['variables that are not JSON', get({ query: kind, variables: '{' }), wrong(400, 'BAD_REQUEST')],
  ['variables that are not a map', get({ query: kind, variables: '[7]' }), wrong(400, 'BAD_REQUEST')],
  ['extensions that are not a map', get({ query: kind, extensions: '7' }), wrong(400, 'BAD_REQUEST')],
  ['no query in the URL', get({}), wrong(400, 'BAD_REQUEST')],
  ['an invalid document in the URL', get({ query: '{ nope }' }), wrong(422, 'GRAPHQL_VALIDATION_FAILED')],
  ['a mutation by GET', get({ query: mutation }), byPostAlone],
  [
    'a mutation by GET from a legacy client',
    get({ query: mutation }, json),
    { ...byPostAlone, ...wrong(405, 'METHOD_NOT_ALLOWED', json) },
  ],
  [
    'a mutation by GET beside a query',
    get({ query: `query A ${kind} ${mutation.replace('mutation', 'mutation B')}`, operationName: 'B' }),
    wrong(405, 'METHOD_NOT_ALLOWED'),
  ],
  [
    'HEAD',
    { ...get({ query: kind }), method: 'HEAD' },
    { status: 200, type: response, headers: { 'content-length': '39' } },
  ],
  ['a mutation by HEAD', { ...get({ query: mutation }), method: 'HEAD' }, { status: 405, headers: { allow: 'POST' } }],
  ['a QUERY', query({ query: kind }), { ...ok(response), headers: { 'accept-query': json } }],
  ['a QUERY from a legacy client', query({ query: kind }, { accept: json }), ok(json)],
  ['a QUERY with variables', query({ query: needsId, variables: { id: 'x' } }), node],
  ['a mutation by QUERY', query({ query: mutation }), byPostAlone],
  [
    'a mutation by QUERY for an event stream',
    query({ query: mutation }, { accept: 'text/event-stream' }),
    { status: 405 },
  ],
  ['a QUERY without a type', query('{}', ofType(undefined)), wrong(400, 'BAD_REQUEST', json)],
  [
    'a QUERY of another type',
    query('{}', ofType('application/graphql')),
    { ...unsupported, headers: { 'accept-query': json } },
  ],
  ['a QUERY that is not JSON', query('{'), wrong(400, 'BAD_REQUEST')],
  ['a QUERY that is not valid', query({ query: '{ nope }' }), wrong(422, 'GRAPHQL_VALIDATION_FAILED')],
  ...['PUT', 'PATCH', 'DELETE'].map((method): Row => {
    return [method, { method }, { ...wrong(405, 'METHOD_NOT_ALLOWED', json), headers: allowed }];
  }),
  ['OPTIONS', { method: 'OPTIONS' }, { status: 204, headers: { ...allowed, 'accept-query': json } }],
];

/** Sends a row's request, by default a POST with a query. The result omits the headers that always differ. */
async function send(
  url: string,
  { method = 'POST', accept = response, headers, search, body = { query: kind } }: Sent,
) {
  const isBody = typeof body === 'string' || body instanceof Uint8Array;
  const hasBody = !/GET|HEAD|OPTIONS/.test(method);
  const bytes = hasBody ? (isBody ? body : JSON.stringify(body)) : '';
  const fields = {
    ...{ authorization: t.platform.authorization, accept, 'content-length': Buffer.byteLength(bytes) },
    ...(hasBody && { 'content-type': json }),
    ...headers,
  };
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const place = `${url}/graphql${search ? `?${new URLSearchParams(search)}` : ''}`;
  const answer = await answerTo(place, { method, headers: Object.fromEntries(given) }, bytes);
  const { date: _date, ratelimit: _ratelimit, 'x-request-id': _id, ...others } = answer.headers;
  return { status: answer.statusCode, headers: others, text: await text(answer) };
}

describe.each([
  ['media types', mediaTypes],
  ['bodies', bodies],
  ['parameters', parameters],
  ['outcomes', outcomes],
  ['methods', methods],
])('%s', (_group, rows) => {
  test.each(rows)('%s', async (_what, sent, { status, type, headers = {}, body, code }) => {
    const answer = await send(t.url, sent);
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
    if (type) expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`);
    expect(answer.headers).toMatchObject({ vary: 'Origin, Accept, Accept-Encoding', ...headers });
    if (body) expect(JSON.parse(answer.text)).toEqual(body);
    if (code) expect(JSON.parse(answer.text)).toMatchObject(error(code));
    // The path through Yoga returns the same response.
    expect(await send(throughYoga.url, sent)).toEqual(answer);
  });
});

describe('event streams', () => {
  const accept = 'text/event-stream';

  test.each([...parameters, ...outcomes.filter(([, { accept: type }]) => type === undefined)])(
    'have the same outcome: %s',
    async (_what, sent, { body, code = '' }) => {
      const { text: events } = await send(t.url, { ...sent, accept });
      expect(events).toContain(body ? JSON.stringify(body) : `"code":"${code}"`);
    },
  );

  test.each<readonly [what: string, sent: Sent, status: number]>([
    ['a POST', { accept, body: { query: subscription } }, 200],
    ['a GET', get({ query: subscription }, accept), 200],
    ['a QUERY', query({ query: subscription }, { accept }), 200],
    ['a HEAD', { ...get({ query: subscription }, accept), method: 'HEAD' }, 200],
    ['a POST that prefers JSON', { accept: `${response}, ${accept};q=0.1`, body: { query: subscription } }, 200],
    ['a POST that refuses event streams', { accept: `${json}, ${accept};q=0`, body: { query: subscription } }, 406],
  ])('%s of a subscription', async (_what, { method = 'POST', search, ...sent }, status) => {
    const answer = await fetch(`${t.url}/graphql?${new URLSearchParams(search)}`, {
      method,
      headers: { authorization: t.platform.authorization, 'content-type': json, accept: sent.accept ?? '' },
      ...(sent.body && { body: JSON.stringify(sent.body) }),
    });
    expect(answer.status).toBe(status);
    if (status === 200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': `${accept}; charset=utf-8`,
        'cache-control': 'no-store, no-transform',
        vary: 'Origin, Accept, Accept-Encoding',
      });
    await answer.body?.cancel();
  });
});

test.each(parameters.filter(([, { body }]) => !(body instanceof Uint8Array)))(
  'sockets have the same outcome: %s',
  async (_what, { body: payload }, { body }) => {
    const raw = await openRawSocket(t.url, t.platform.authorization);
    raw.send({ type: 'subscribe', id: '1', payload });
    const message = await raw.receive('next').catch(() => undefined);
    raw.socket.close(1000);
    const { code } = await raw.closed;
    expect([code, message?.payload]).toEqual(body ? [1000, body] : [4400, undefined]);
  },
);

test('a socket refuses a documentId that is not a string, as HTTP does', async () => {
  const raw = await openRawSocket(t.url, t.platform.authorization);
  raw.send({ type: 'subscribe', id: '1', payload: { query: kind, documentId: 5 } });
  expect((await raw.receive('error')).payload).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
  raw.socket.close();
});

test.each([
  ['an address', `GET /graphql?query=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x`, 414],
  ['a header', `GET /graphql HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}`, 431],
])('%s that is too long is refused with its own status', async (_what, head, status) => {
  expect(await exchange(t.url, `${head}\r\n\r\n`)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test("graphql-http's audit passes completely", async () => {
  const { authorization } = t.platform;
  const audits = serverAudits({
    url: `${t.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { authorization, ...init.headers } }),
  });
  const results = await Promise.all(audits.map(({ fn }) => fn()));
  expect(results.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual([]);
  expect(results).toHaveLength(61);
});

test.each([
  ['@defer', { query: '{ viewer { kind ... @defer { serverTime } } }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['@stream', { query: '{ accounts { nodes @stream { id } } }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['a batch', [{ query: kind }], 'BAD_REQUEST'],
  ["federation's _service", { query: '{ _service { sdl } }' }, 'GRAPHQL_VALIDATION_FAILED'],
])('%s is refused, as the compatibility page says', async (_name, body, code) => {
  const { errors } = await (await t.platform.post(JSON.stringify(body))).json();
  expect(errors).toMatchObject([{ extensions: { code } }]);
});

/** Returns the bytes of a response as they arrive, and their encoding. `fetch` would decode them. */
async function bytesOf(path: string, accepted: string, { method = 'GET', body = '' } = {}) {
  const headers = {
    authorization: t.platform.authorization,
    'accept-encoding': accepted,
    ...(body && { 'content-type': json }),
  };
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

  test.each(long)('a long response to %s is compressed for clients that accept it', async (_name, path, sent) => {
    const plain = await bytesOf(path, 'identity', sent);
    expect(plain.encoding).toBeUndefined();
    const gzipped = await bytesOf(path, 'br;q=1.0, gzip;q=0.8, *;q=0.1', sent);
    expect(gzipped.encoding).toBe('gzip');
    expect(gzipped.vary).toContain('Accept-Encoding');
    expect(gzipped.bytes.length).toBeLessThan(plain.bytes.length / 3);
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
  });

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
  const headers = { authorization: t.platform.authorization, 'content-type': json };
  const answer = await answerTo(`${t.url}/graphql`, { method: 'POST', headers }, Readable.from(chunks));
  expect([answer.statusCode, await text(answer)]).toEqual([200, JSON.stringify(data)]);
});
