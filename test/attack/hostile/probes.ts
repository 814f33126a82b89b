import { schema } from '../../../src/api/graphql/server/schema.ts';
import type { Choices } from '../../oracle/choices.ts';
import { drawDocument } from '../../oracle/documents.ts';
import type { Material } from '../../oracle/material.ts';
import { base } from '../../setup/rest.ts';
import { calls } from '../matrix/graphql-calls.ts';
import { type Operation, requests } from '../matrix/rest-matrix.ts';
import type { Things } from '../matrix/things.ts';

/** A request, valid or not, over one transport. Its body is sent as is. */
export interface HttpProbe {
  readonly transport: 'JSON' | 'GET' | 'event stream' | 'REST';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface SocketProbe {
  readonly transport: 'socket';
  readonly authorization: string;
  readonly frames: readonly (string | Buffer)[];
}

export type Probe = HttpProbe | SocketProbe;

export interface Hostility {
  readonly material: Material;
  readonly things: Things;
  readonly operations: readonly Operation[];
  /** The authorization headers to choose from: the platform's, an app's, and an empty one. */
  readonly authorizations: readonly string[];
}

const long = (count: number, of = 'x') => of.repeat(count);

/** Values that almost no field expects. */
const values: readonly unknown[] = [
  ...['', ' ', 'a\u0000b', '\ud800', '\u202eabc\u0007', long(300), long(20_000), '١٢٣'],
  ...["'; drop table customer; --", '%s%n{{7*7}}<%= 7*7 %>', '../../etc/passwd'],
  ...[0, -1, 1.5, 1e308, 2 ** 53 + 2, 2_147_483_648, '9223372036854775808', '-9223372036854775809'],
  ...[null, true, [], [null], [[[]]], {}, { constructor: { prototype: 1 } }, { toString: null, valueOf: 1 }],
  ...[JSON.parse('{"__proto__": {"admin": true}}'), JSON.parse('{"then": 1}')],
  ...['0000-00-00T00:00:00Z', '9999-12-31T23:59:59-23:59', '275760-09-13T00:00:00.001Z'],
  'Customer:00000000-0000-0000-0000-000000000000',
  'InternalAccount:zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz',
  'constructor:01a1fc11-db75-7eac-9cd6-93f3db60e56b',
  ...['$a@b.c', 'http://[::ffff:127.0.0.1]:1/', 'A'.repeat(32), Buffer.from([0xff, 0xfe, 0x00]).toString('base64url')],
  ...['USD', 'XXX', 'transferOut', '__proto__'],
];

function hostileValue(choices: Choices, { material, things }: Hostility): unknown {
  if (choices.oneIn(3)) return choices.oneOf(Object.values(things));
  if (choices.oneIn(5)) return choices.oneOf(Object.values(material.ids).flat());
  if (choices.oneIn(6)) return choices.oneOf(Object.values(material.cursors).flat());
  // A copy, because a probe may change its values.
  return structuredClone(choices.oneOf(values));
}

/** Replaces, removes or adds members somewhere in a value. */
function spoilt(value: unknown, choices: Choices, hostility: Hostility): unknown {
  if (typeof value !== 'object' || value === null || choices.oneIn(8)) return hostileValue(choices, hostility);
  if (Array.isArray(value)) {
    if (value.length === 0 || choices.oneIn(4)) {
      return Array.from(
        { length: choices.oneOf([1, 2, 101, 2_000, 3_277]) },
        () => value[0] ?? hostileValue(choices, hostility),
      );
    }
    const at = choices.below(value.length);
    return value.map((one, index) => (index === at ? spoilt(one, choices, hostility) : one));
  }
  const names = Object.keys(value);
  if (names.length === 0 || choices.oneIn(10)) {
    const name = choices.oneOf(['first', 'after', 'filter', 'idempotencyKey', 'sandboxScenario', 'then', 'x']);
    return { ...value, [name]: hostileValue(choices, hostility) };
  }
  const name = choices.oneOf(names);
  const { [name]: chosen, ...rest } = value as Record<string, unknown>;
  return choices.oneIn(6) ? rest : { ...rest, [name]: spoilt(chosen, choices, hostility) };
}

/** Fragments to insert into documents and other strings. */
const pieces = [
  ...'{}()[]:!$@"\\#\n,|&=\u0000\ufeff\ud800',
  ...['...', '"""', ' on ', ' ...F ', ' @include(if: true)', ' @skip(if: $no)', ' @defer', ' @oneOf', ' {} '],
  ...[' __typename', ' then: __typename', ' __proto__: __typename', ' toJSON: __typename', ' viewer { kind }'],
  ...[' constructor: viewer { kind }', ' x: currencies { code } y: currencies { code }', ' input: null '],
  ...[' query', ' mutation { a }', ' subscription { events { id } }', ' fragment F on Query { ...F } '],
  ...[' null ', ' 1e999 ', ' 99999999999999999999 ', ' -0 ', '"\\uD800"', ' first: 100', ' first: -1', ' after: "x"'],
  ...[' {a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a', '(((((((((((((((', '[[[[[[[[[[[[[[[[[['],
  ' transactions(first: 100) { edges { node { id timeline { status } } } }',
  ' $v: [[[[Int!]!]!]!] = [[[[1]]]]',
];

/** Removes or duplicates part of a string, or inserts something. */
function torn(text: string, choices: Choices): string {
  const at = choices.below(text.length + 1);
  const until = Math.min(text.length, at + 1 + choices.below(12));
  switch (choices.below(5)) {
    case 0:
      return text.slice(0, at) + choices.oneOf(pieces) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(until);
    case 2:
      return text.slice(0, until) + text.slice(at);
    case 3:
      return text.slice(0, at);
    default:
      return text.slice(0, at) + choices.oneOf(pieces).repeat(choices.oneOf([2, 40, 600])) + text.slice(at);
  }
}

/** Draws a valid operation with its variables, and corrupts it in a random number of ways. */
function drawOperation(choices: Choices, hostility: Hostility): Record<string, unknown> {
  // A valid but large operation, whose response would exceed the size limit.
  if (choices.oneIn(12)) return { query: largest, variables: {} };
  if (choices.oneIn(12)) return countless(choices);
  const operation = choices.oneIn(2) ? ofCalls(choices, hostility) : ofDocuments(choices, hostility);
  if (choices.oneIn(3)) operation.query = torn(operation.query, choices);
  if (choices.oneIn(9)) operation.query = torn(operation.query, choices);
  if (choices.oneIn(2)) operation.variables = spoilt(operation.variables, choices, hostility);
  if (choices.oneIn(4)) operation.variables = spoilt(operation.variables, choices, hostility);
  return choices.oneIn(10) ? (spoilt(operation, choices, hostility) as Record<string, unknown>) : operation;
}

/** Draws an operation with many aliased counts and sums, filtered by a value that is repeated thousands of times. */
function countless(choices: Choices): Drawn {
  const field = choices.oneOf([
    'transactionTotals(FILTER) { count amount { amount } }',
    'transactions(first: 0, FILTER) { totalCount }',
    'transactions(FILTER) { a: totalCount b: totalCount edges { node { id } } }',
    'customers(first: 3) { edges { node { transactionTotals(FILTER) { count } } } }',
    'accounts(first: 3) { edges { node { transactions(first: 0, FILTER) { totalCount } } } }',
  ]);
  const [names, values] = [choices.oneOf([2, 4, 5, 20]), choices.oneOf([1, 100, 101, 3_277])];
  const statuses = ['$s', '$s, type: [OUTGOING]', '[FAILED, FAILED]'];
  const filter = () => `filter: { status: ${choices.oneOf(statuses)} }`;
  const fields = Array.from({ length: names }, (_none, n) => `n${n}: ${field.replace('FILTER', filter())}`);
  return {
    query: `query ($s: [TransactionStatus!]) { x: transactions(first: 1, filter: { status: $s }) { edges { cursor } } ${fields.join(' ')} }`,
    variables: { s: Array.from({ length: values }, () => 'COMPLETED') },
  };
}

const largest =
  '{ accounts(first: 100) { edges { cursor node { id createdAt updatedAt customer { id name umaAddress } currency { code name symbol decimals } } } } }';

interface Drawn extends Record<string, unknown> {
  query: string;
  variables: unknown;
}

function ofDocuments(choices: Choices, { material }: Hostility): Drawn {
  const { query, operationName, variables } = drawDocument(schema, choices, material);
  return { query, variables: variables[0] ?? {}, ...(operationName && { operationName }) };
}

function ofCalls(choices: Choices, { things }: Hostility): Drawn {
  const call = choices.oneOf(calls);
  const variables = choices.oneOf(call.bases)(things);
  const isList = call.query.includes('$first');
  return { query: call.query, variables: { ...variables, ...(isList && !choices.oneIn(4) && { first: 100 }) } };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? 'null';
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : jsonOf(value));

function drawBody(value: unknown, choices: Choices): string | Buffer {
  const json = jsonOf(value);
  if (!choices.oneIn(8)) return json;
  switch (choices.below(9)) {
    case 0:
      return torn(json, choices);
    case 1:
      return `\ufeff${json}`;
    case 2:
      return Buffer.from(`${json.slice(0, 20)}\u00ff\u00c0\u0000${json.slice(20)}`, 'latin1');
    case 3:
      return `[${json},${json}]`;
    case 4:
      return '['.repeat(choices.oneOf([50, 20_000])) + json;
    case 5:
      return json.replace('{', '{"query":"{ __typename }","query":1,');
    case 6:
      return `${json.slice(0, -1)},"padding":"${long(choices.oneOf([1_000, 101_000]))}"}`;
    case 7:
      return '';
    default:
      return `${json}${json}`;
  }
}

const types = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json; charset=utf-16', 'text/plain'],
  ...['application/graphql', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'a/b/c'],
];
const accepts = [
  ...['application/json', 'application/graphql-response+json', '*/*', 'text/event-stream', 'text/html'],
  ...['multipart/mixed', 'application/json;q=0', 'x'],
];

type HeaderFields = Record<string, string>;

function drawHeaders(choices: Choices, { authorizations }: Hostility, usual: HeaderFields): HeaderFields {
  const [authorization = ''] = authorizations;
  const headers: HeaderFields = { authorization, 'content-type': 'application/json', ...usual };
  const wrong = ['Basic', 'Basic !!!', 'Bearer a.b.c', `Basic ${long(5_000)}`, 'Digest x'];
  if (choices.oneIn(8)) headers.authorization = choices.oneOf([...authorizations, ...wrong]);
  if (choices.oneIn(14)) headers['content-type'] = choices.oneOf(types);
  if (choices.oneIn(14)) headers.accept = choices.oneOf(accepts);
  if (choices.oneIn(40)) headers['content-encoding'] = choices.oneOf(['gzip', 'br', 'identity', 'x']);
  if (choices.oneIn(40)) headers.origin = choices.oneOf(['https://evil.example', 'null', 'x']);
  return headers;
}

/** Draws a probe. The same choices produce the same probe. */
export function drawProbe(choices: Choices, hostility: Hostility): Probe {
  const common = ['JSON', 'REST', 'event stream'] as const;
  const transport = choices.oneOf([...common, ...common, 'socket', 'GET'] as const);
  if (transport === 'REST') return drawRest(choices, hostility);
  const operation = drawOperation(choices, hostility);
  if (transport === 'socket') return drawFrames(operation, choices, hostility);
  if (transport === 'GET') {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(Object(operation)))
      query.append(name, typeof value === 'string' ? value.toWellFormed() : jsonOf(value));
    if (choices.oneIn(12)) query.append('query', '{ __typename }');
    const text = choices.oneIn(8) ? torn(query.toString(), choices).replace(/[^\x21-\x7e]/g, '%') : query.toString();
    return {
      transport,
      method: choices.oneIn(20) ? choices.oneOf(['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']) : 'GET',
      path: `/graphql?${text.slice(0, 12_000)}`,
      headers: drawHeaders(choices, hostility, { accept: 'application/json', 'x-requested-with': 'x' }),
    };
  }
  const isEvents = transport === 'event stream';
  return {
    transport,
    method: 'POST',
    path: isEvents ? '/graphql/stream' : '/graphql',
    headers: drawHeaders(choices, hostility, { accept: isEvents ? 'text/event-stream' : 'application/json' }),
    body: drawBody(operation, choices),
  };
}

function drawFrames(operation: unknown, choices: Choices, { authorizations }: Hostility): SocketProbe {
  const frames: (string | Buffer)[] = [];
  for (let count = 1 + choices.below(3); count > 0; count--) {
    const frame = jsonOf({ id: choices.oneOf(['1', '2', '']), type: 'subscribe', payload: operation });
    const odd: (string | Buffer)[] = [
      ...[torn(frame, choices), '', 'null', '[]', '{}', '{"type":"connection_init"}', '{"type":"next","id":"1"}'],
      ...['{"type":"complete","id":"1"}', '{"type":"complete"}', '{"type":"subscribe","payload":{}}'],
      ...['{"type":"ping","payload":{"authorization":1}}', '{"type":"pong","payload":[]}'],
      ...[Buffer.from([0xff, 0x00, 0xfe]), Buffer.from(frame), frame.replace('"id"', '"__proto__"')],
    ];
    frames.push(choices.oneIn(5) ? choices.oneOf(odd) : frame);
  }
  const authorization = choices.oneIn(10) ? choices.oneOf(authorizations) : (authorizations[0] ?? '');
  return { transport: 'socket', authorization, frames };
}

function drawRest(choices: Choices, hostility: Hostility): HttpProbe {
  const operation = choices.oneOf(hostility.operations);
  const made = choices.oneOf(requests[operation.id] ?? [])(hostility.things);
  const segment = (name: string) => {
    const value = choices.oneIn(4) ? hostileValue(choices, hostility) : made.path?.[name];
    return choices.oneIn(30) ? '%ff' : encodeURIComponent(textOf(value).toWellFormed().slice(0, 2_000));
  };
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => segment(name));
  const query = new URLSearchParams((made.query ?? {}) as Record<string, string>);
  for (const { path: at } of operation.places) {
    if (at[0] === 'query' && choices.oneIn(4))
      query.append(at[1] ?? '', textOf(hostileValue(choices, hostility)).toWellFormed().slice(0, 2_000));
  }
  for (const name of ['limit', 'sortOrder', 'status', 'createdAfter', 'startDate', 'sendingAmount', 'x']) {
    if (choices.oneIn(12)) query.append(name, textOf(hostileValue(choices, hostility)).toWellFormed().slice(0, 2_000));
  }
  const key: HeaderFields = choices.oneIn(5)
    ? { 'idempotency-key': choices.oneOf(['a', 'b', 'c', ' ', long(256), 'é']) }
    : {};
  const body = made.body && choices.oneIn(2) ? spoilt(made.body, choices, hostility) : made.body;
  const text = query.toString();
  return {
    transport: 'REST',
    method: choices.oneIn(25) ? choices.oneOf(['PUT', 'DELETE', 'PATCH', 'POST', 'OPTIONS']) : operation.method,
    path: `${base}${path}${text && `?${text}`}`,
    headers: drawHeaders(choices, hostility, key),
    ...(body !== undefined && { body: drawBody(choices.oneIn(4) ? spoilt(body, choices, hostility) : body, choices) }),
  };
}
