import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { openRawSocket } from '../setup/streams.ts';

/** On every transport, JSON is read exactly as written. Repeated members and inexact numbers are refused. */

const t = await testGateway();
const scene = await t.platform.makeScene(100_000n);

const query =
  'mutation ($input: TransferOutInput!) { transferOut(input: $input) { __typename ... on UserError { message } } }';

type Send = (request: string) => Promise<string>;

const post =
  (headers: Readonly<Record<string, string>> = {}): Send =>
  async (body) => {
    const response = await t.platform.post(body, headers);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 400 });
    return text;
  };

const overSocket: Send = async (payload) => {
  const raw = await openRawSocket(t.url, t.platform.authorization);
  raw.socket.send(`{"id":"1","type":"subscribe","payload":${payload}}`);
  const answer = await raw.receive('error');
  raw.socket.close();
  return JSON.stringify(answer);
};

const ways: readonly [string, Send][] = [
  ['a POST', post()],
  ['an event stream', post({ accept: 'text/event-stream' })],
  ['a socket', overSocket],
];

/** Returns a transfer's input as JSON, with the amount exactly as given. */
function transfer(amounts: string): string {
  const { usd, outsideUsd } = scene;
  return `{"sourceAccountId":"${usd}","destinationAccountId":"${outsideUsd}","idempotencyKey":"exact",${amounts}}`;
}

const written: readonly [string, string, string][] = [
  ['a repeated member', '"amount":1,"amount":5000', 'is given twice'],
  ['a repeated member with the same value', '"amount":1,"amount":1', 'is given twice'],
  ['a repeated member in another spelling', '"amount":5000,"am\\u006funt":1', 'is given twice'],
  ['more digits than a number can have', '"amount":9007199254740993', 'must be at most 9007199254740991'],
  ['a number close to an integer', '"amount":1.0000000000000000001', 'would be read as 1'],
  ['a number out of range', '"amount":1e400', 'must be at most 9007199254740991'],
  ['a negative number out of range', '"amount":-9007199254740993', 'must be at least -9007199254740991'],
];

describe.each(ways)('over GraphQL, by %s', (_name, send) => {
  test.each(written)('%s moves no money, and the error names it', async (_what, amounts, reason) => {
    const answer = await send(`{"query":${JSON.stringify(query)},"variables":{"input":${transfer(amounts)}}}`);
    expect(answer).toContain(`variables.input.amount`);
    expect(answer).toContain(reason);
  });

  test('a repeated member of the request and a member named __proto__ are refused', async () => {
    expect(await send('{"query":"{ viewer { kind } }","query":"{ viewer { id } }"}')).toContain('query is given twice');
    const polluted = `{"query":${JSON.stringify(query)},"variables":{"__proto__":{"input":${transfer('"amount":1')}}}}`;
    expect(await send(polluted)).toContain('variables.__proto__ is not an allowed member name');
  });
});

test('a GET with a repeated parameter or JSON member is refused, and the error names it', async () => {
  const get = async (search: string) => {
    const headers = { authorization: t.platform.authorization };
    const response = await fetch(`${t.url}/graphql?query={viewer{kind}}&${search}`, { headers });
    expect({ search, status: response.status }).toEqual({ search, status: 400 });
    return response.text();
  };
  expect(await get('variables={"a":{"b":1,"b":2}}')).toContain('"field":"variables.a.b"');
  expect(await get('extensions={"a":1,"\\u0061":1}')).toContain('"field":"extensions.a"');
  expect(await get('query={viewer{id}}')).toContain('query is given twice');
});

describe('a socket message that is not an operation', () => {
  test.each([
    ['{"type":"ping","type":"pong"}', 'type is given twice'],
    ['{"type":"ping","payload":{"a":1,"a":1}}', 'payload.a is given twice'],
    ['{"type":"ping","payload":{"a":1e400}}', 'payload.a must be at most 9007199254740991'],
    ['{"id":"1","id":"2","type":"complete"}', 'id is given twice'],
  ])('%s closes the socket with 4400 and the reason', async (message, reason) => {
    const raw = await openRawSocket(t.url, t.platform.authorization);
    raw.socket.send(message);
    expect(await raw.closed).toEqual({ code: 4400, reason: expect.stringContaining(reason) });
  });
});

describe('over REST', () => {
  const send = async (raw: string) => {
    const response = await t.platform.post(raw, {}, '/2025-10-13/transfer-out');
    return { status: response.status, body: await response.json() };
  };
  const of = (amounts: string) =>
    `{"source":{"accountId":"${scene.usd}"},"destination":{"accountId":"${scene.outsideUsd}"},${amounts}}`;

  test.each(written)('%s moves no money, and the error names it', async (_what, amounts, reason) => {
    const [code, constraint] = reason.startsWith('must be at most')
      ? ['AMOUNT_OUT_OF_RANGE', 'maximum']
      : ['INVALID_AMOUNT', 'exact'];
    expect(await send(of(amounts))).toMatchObject({
      status: 400,
      body: { code, details: { errors: [{ field: 'amount', constraint, message: expect.stringContaining(reason) }] } },
    });
  });

  test.each([
    ['"amount":1,"metadata":{"a":{"b":[{"c":1},{"c":1,"c":2}]}}', 'metadata.a.b.1.c'],
    ['"amount":1,"__proto__":{"amount":5}', '__proto__'],
    ['"amount":1,"metadata":{"\\u005f_proto__":"x"}', 'metadata.__proto__'],
  ])('%s is refused at its path', async (members, field) => {
    const { status, body } = await send(of(members));
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', details: { field } } });
  });

  test('more than 64 levels are refused, without a crash', async () => {
    const deep = (levels: number) => send(of(`"amount":1,"metadata":${'['.repeat(levels)}${']'.repeat(levels)}`));
    for (const levels of [65, 20_000]) {
      expect(await deep(levels)).toMatchObject({ status: 400, body: { message: 'body: has more than 64 levels' } });
    }
  });
});

test('none of the requests above moved money, but a valid one does', async () => {
  expect(await t.platform.balanceOf(scene.usd)).toBe(100_000n);
  await t.platform.pay(scene, 5_000);
});
