import { hash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, onTestFinished, test } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { moving } from '../setup/acts.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { restClient, restTransfer } from '../setup/rest.ts';
import { type Bearer, usAccount } from '../setup/scene.ts';

/** Uses the official MCP client to call an agent's tools: the GraphQL documents that its token allows. */

const t = await testGateway();
const scene = await t.platform.makeScene(100_000n);
const outside = (number: string) => t.platform.externalAccount(scene.customerId, 'USD', usAccount(number));
const payees = [scene.outsideUsd, await outside('2100000'), await outside('2200000')];
const stranger = await outside('2300000');

const outcome = `__typename ... on TransferOutSuccess { replayed transaction { id status } }
  ... on ValidatedPayment { sentAmount { decimal } feesIncluded { decimal } limits { period leftAmount { decimal } } approvalDueAt }
  ... on LimitExceededError { rule limit { period leftAmount { decimal } } } ... on UserError { code message }`;
const payText = `# Pays one of the known payees
# from the account for bills.
mutation PayBill($payee: ID!, "Dollars, such as 25.00." $amount: Decimal!, $key: String!, $check: Boolean = true) {
  transferOut(input: { sourceAccountId: "${scene.usd}", destinationAccountId: $payee, amount: { decimal: $amount }, idempotencyKey: $key, validateOnly: $check }) { ${outcome} }
}`;
const transferText = `"Moves money out." mutation Transfer($input: TransferOutInput!) { transferOut(input: $input) { ${outcome} } }`;
const balanceText = 'query Balance($id: ID!) { account(id: $id) { ... on InternalAccount { balance { decimal } } } }';
const latestText =
  'query Latest($first: Int = 3, $status: [TransactionStatus!]) { transactions(first: $first, filter: { status: $status }) { edges { node { id } } } }';
const ofOthersText = 'query OfOthers { viewer { platformId } }';

const sha256 = (text: string) => hash('sha256', text);
const restOf = ({ authorization }: Pick<TestPlatform, 'authorization'>) => restClient(t.url, authorization);
async function register(platform: TestPlatform, ...texts: readonly string[]): Promise<void> {
  const manifest = Object.fromEntries(texts.map((text) => [sha256(text), text]));
  await (await restOf(platform)).ask('POST', '/trusted-documents', manifest);
}
await register(t.platform, payText, transferText, balanceText, latestText, ofOthersText);

type Agent = Pick<Bearer, 'tokenId' | 'authorization'>;

/** Creates a token that offers the given documents to an agent. */
async function tokenFor(texts: readonly string[], input: object = {}): Promise<Agent> {
  const made = { name: 'agent', permissions: ['VIEW', 'TRANSACT'], documents: texts.map(sha256), ...input };
  const { apiToken, secret } = await t.platform.succeed('createApiToken', made, 'secret apiToken { id clientId }');
  return { tokenId: apiToken.id, authorization: basicAuthorization({ clientId: apiToken.clientId, secret }) };
}

const bounds = {
  limits: [{ period: 'DAY', currency: 'USD', amount: { decimal: '500.00' } }],
  receiverAccountIds: payees,
  timeZone: 'UTC',
};
const setPolicy = (subjectId: string, policy: object = bounds) =>
  t.platform.succeed('setPolicy', { subjectId, ...policy });

/** Creates an agent that can pay three payees, up to 500.00 per day. */
async function payingAgent(...texts: readonly string[]): Promise<Agent> {
  const agent = await tokenFor(texts.length > 0 ? texts : [payText, transferText, balanceText]);
  await setPolicy(agent.tokenId);
  return agent;
}

/** Connects an MCP client. */
async function clientOf(
  { authorization }: { readonly authorization?: string },
  mode: VersionNegotiationMode = 'legacy',
) {
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  const requestInit = { headers: { ...(authorization !== undefined && { authorization }) } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${t.url}/mcp`), { requestInit }));
  return client;
}

/** Calls a tool. Returns the data, text parts and confirmation in its result. */
async function call(client: Client, name: string, args: object): Promise<Data> {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
  const [, confirmation] = /confirmation "([^"]+)"/.exec(texts[1] ?? '') ?? [];
  return { isError, texts, confirmation, ...(texts[0]?.startsWith('{') ? JSON.parse(texts[0]) : {}) };
}

/** Validates a payment and then makes it. */
async function payBill(client: Client, args: object): Promise<Data> {
  const { confirmation } = await call(client, 'PayBill', args);
  return (await call(client, 'PayBill', { ...args, confirmation })).data.transferOut;
}

const messageOf = (attempt: Promise<unknown>) => attempt.then(() => 'done', String);

describe.each(['legacy', { pin: '2026-07-28' }] as const)('a client with protocol version %j', (mode) => {
  test("sees its token's documents as tools, and no others", async () => {
    const client = await clientOf(await payingAgent(payText, latestText), mode);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'PayBill',
        description: 'Pays one of the known payees\nfrom the account for bills.',
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      },
      {
        name: 'Latest',
        description: 'Latest',
        annotations: { readOnlyHint: true, destructiveHint: false },
        inputSchema: { properties: { first: { type: 'integer', default: 3 } }, required: [] },
      },
    ]);
    expect(tools).toHaveLength(2);
    const none = await messageOf(client.callTool({ name: 'OfOthers', arguments: {} }));
    expect(none).toContain('there is no tool OfOthers');
  });

  test('validates a payment first, then pays with the confirmation', async () => {
    const client = await clientOf(await payingAgent(), mode);
    const before = await t.platform.balanceOf(scene.usd);
    const args = { payee: payees[1], amount: '120.00', key: `first-${sha256(JSON.stringify(mode))}` };
    const checked = await call(client, 'PayBill', args);
    expect(checked.data.transferOut).toMatchObject({
      __typename: 'ValidatedPayment',
      sentAmount: { decimal: '120.00' },
      feesIncluded: { decimal: '0.00' },
      limits: [{ period: 'DAY', leftAmount: { decimal: '380.00' } }],
      approvalDueAt: null,
    });
    expect(await t.platform.balanceOf(scene.usd)).toBe(before);
    const paid = await call(client, 'PayBill', { ...args, confirmation: checked.confirmation });
    expect(paid.data.transferOut).toMatchObject({ __typename: 'TransferOutSuccess', replayed: false });
    expect(await t.platform.balanceOf(scene.usd)).toBe(before - 12_000n);
  });
});

test("a tool's schema accepts what GraphQL accepts, and has the same descriptions", async () => {
  const { tools } = await (await clientOf(await payingAgent())).listTools();
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  addFormats.default(ajv);
  const [pay, transfer] = tools.map(({ inputSchema }) => ajv.compile(inputSchema));
  const bill = { payee: payees[0], amount: '1.00', key: 'k' };
  for (const changed of [{}, { confirmation: 'c' }])
    expect([changed, pay?.({ ...bill, ...changed })]).toEqual([changed, true]);
  for (const changed of [{ amount: 1 }, { key: 'two words' }, { check: false }, { key: undefined }])
    expect([changed, pay?.(JSON.parse(JSON.stringify({ ...bill, ...changed })))]).toEqual([changed, false]);
  const input = moving(scene.usd, payees[0] ?? '', 100, { idempotencyKey: 'k' });
  const takes = (changed: object) => transfer?.(JSON.parse(JSON.stringify({ input: { ...input, ...changed } })));
  for (const changed of [{}, { amount: { decimal: '1.00' } }])
    expect([changed, takes(changed)]).toEqual([changed, true]);
  for (const changed of [
    ...[{ amount: { decimal: '1.00', units: 100 } }, { amount: {} }],
    ...[{ idempotencyKey: undefined }, { validateOnly: false }, { other: 1 }],
  ])
    expect([changed, takes(changed)]).toEqual([changed, false]);
  expect(tools[0]?.inputSchema.properties).toMatchObject({
    amount: { description: 'Dollars, such as 25.00.' },
    payee: { description: expect.stringContaining('account') },
  });
  expect(tools[1]?.description).toBe('Moves money out.');
});

test("a tool's result is the text that the GraphQL API returns", async () => {
  const agent = await payingAgent();
  const own = connect(t.url, '', agent.authorization);
  const text = await (await own.post({ query: balanceText, variables: { id: scene.usd } })).text();
  const client = await clientOf(agent);
  expect((await call(client, 'Balance', { id: scene.usd })).texts).toEqual([text]);
  const refused = { isError: true, errors: [{ extensions: { code: 'INVALID_INPUT' } }] };
  expect(await call(client, 'Balance', {})).toMatchObject(refused);
});

describe('an agent', () => {
  const unchanged = async (attempt: () => Promise<void>) => {
    const before = await t.platform.balanceOf(scene.usd);
    await attempt();
    expect(await t.platform.balanceOf(scene.usd)).toBe(before);
  };

  test('told to overspend spends no more than its policy allows', async () => {
    const client = await clientOf(await payingAgent());
    await unchanged(async () => {
      const bill = { payee: payees[0], amount: '500.01', key: 'over-1' };
      expect(await payBill(client, bill)).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    });
    const before = await t.platform.balanceOf(scene.usd);
    const pay = (bill: number) =>
      payBill(client, { payee: payees[bill % 3], amount: '200.00', key: `at-once-${bill}` });
    await Promise.all([1, 2, 3, 4].map(pay));
    expect(before - (await t.platform.balanceOf(scene.usd))).toBe(40_000n);
  });

  test('told to pay a stranger or a malformed amount gets no confirmation and pays no one', async () => {
    const client = await clientOf(await payingAgent());
    await unchanged(async () => {
      const bill = { payee: stranger, amount: '1.00', key: 'stranger' };
      const { texts } = await call(client, 'PayBill', bill);
      expect(texts).toEqual([expect.stringContaining('LIMIT_EXCEEDED')]);
      expect(await payBill(client, bill)).toMatchObject({ code: 'LIMIT_EXCEEDED', rule: 'RECEIVER' });
      const wrong = await call(client, 'PayBill', { payee: payees[0], amount: '12,50', key: 'comma' });
      expect(wrong).toMatchObject({ isError: true, data: { transferOut: { code: 'INVALID_AMOUNT' } } });
    });
  });

  test('told to repeat a payment pays only once', async () => {
    const client = await clientOf(await payingAgent());
    const args = { payee: payees[0], amount: '30.00', key: 'repeated' };
    const before = await t.platform.balanceOf(scene.usd);
    const first = await payBill(client, args);
    const again = await payBill(client, args);
    expect([again.replayed, again.transaction.id]).toEqual([true, first.transaction.id]);
    // An agent that never received the response can find out what was paid, even without a valid confirmation.
    for (const kept of [{}, { confirmation: 'too old' }]) {
      const retried = await call(client, 'PayBill', { ...args, ...kept });
      expect([retried.isError, retried.data.transferOut]).toEqual([false, again]);
      expect(retried.texts).toHaveLength(1);
      const over = await call(client, 'PayBill', { ...args, ...kept, amount: '480.00' });
      expect([over.isError, over.data.transferOut.code]).toEqual([true, 'IDEMPOTENCY_MISMATCH']);
    }
    expect(before - (await t.platform.balanceOf(scene.usd))).toBe(3_000n);
    expect(await payBill(client, { ...args, amount: '31.00' })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(before - (await t.platform.balanceOf(scene.usd))).toBe(3_000n);
  });

  test('told to skip the validation pays nothing', async () => {
    const agent = await payingAgent();
    const client = await clientOf(agent);
    const args = { payee: payees[0], amount: '10.00', key: 'skipped' };
    const input = moving(scene.usd, payees[0] ?? '', 1_000, { idempotencyKey: 'skipped' });
    const { confirmation } = await call(client, 'PayBill', args);
    const ofOther = await call(await clientOf(await payingAgent()), 'PayBill', args);
    await unchanged(async () => {
      const others = [confirmation.slice(0, -2), ofOther.confirmation, [confirmation], { toString: 1 }];
      for (const forged of ['yes', '', true, ...others])
        expect(await call(client, 'PayBill', { ...args, confirmation: forged })).toMatchObject({ isError: true });
      for (const other of [{ amount: '11.00' }, { payee: payees[1] }, { key: 'another' }])
        expect(await call(client, 'PayBill', { ...args, ...other, confirmation })).toMatchObject({ isError: true });
      expect(await call(client, 'Transfer', { input, confirmation })).toMatchObject({ isError: true });
      const { data } = await call(client, 'Transfer', { input: { ...input, validateOnly: false } });
      expect(data.transferOut).toMatchObject({ __typename: 'ValidatedPayment' });
      const checked = client.callTool({ name: 'PayBill', arguments: { ...args, check: false } });
      expect(await messageOf(checked)).toContain('PayBill has no argument check');
      for (const key of [undefined, '', 'two words', 1])
        expect(await call(client, 'PayBill', { ...args, key })).toMatchObject({ isError: true });
      for (const wrong of [[input], 'input', null, undefined])
        expect(await call(client, 'Transfer', { input: wrong })).toMatchObject({ isError: true });
    });
  });

  test('told to invent a document cannot run it through any API', async () => {
    const { authorization } = await payingAgent();
    const own = connect(t.url, t.platform.platformId, authorization);
    const input = moving(scene.usd, payees[0] ?? '', 100);
    await unchanged(async () => {
      const client = await clientOf({ authorization });
      for (const name of ['transferOut', 'OfOthers', sha256(ofOthersText), '__proto__'])
        expect(await messageOf(client.callTool({ name, arguments: {} }))).toContain('there is no tool');
      expect(await own.send('mutation { __typename }')).toMatchObject({ status: 403 });
      expect(await messageOf(own.act('transferOut', input))).toContain('not registered');
      const rest = await restOf({ authorization });
      const body = restTransfer(scene.usd, payees[0] ?? '', 100);
      expect((await rest.call('POST', '/transfer-out', { body, key: 'rest' })).status).toBe(403);
    });
  });
});

test('a token that can move money needs a policy that limits amounts', async () => {
  const agent = await tokenFor([payText]);
  const sentence = `this token can move money, so it needs a policy that limits amounts: set one with setPolicy, for ${agent.tokenId}`;
  expect(await messageOf(clientOf(agent))).toContain(sentence);
  await setPolicy(agent.tokenId, { ...bounds, limits: [{ period: 'DAY', payments: 3 }] });
  expect(await messageOf(clientOf(agent))).toContain(sentence);
  await setPolicy(agent.tokenId);
  const client = await clientOf(agent);
  await t.platform.succeed('deletePolicy', { subjectId: agent.tokenId });
  expect(await messageOf(client.listTools())).toContain(sentence);
  // A token that can only read needs no policy.
  const reader = await clientOf(await tokenFor([balanceText], { permissions: ['VIEW'] }));
  expect((await reader.listTools()).tools).toHaveLength(1);
});

test("an app's token can also have documents, and is limited by its own policy or its creator's", async () => {
  const agent = await t.platform.payingApp({ customerId: scene.customerId, documents: [sha256(balanceText)] });
  expect(await messageOf(clientOf(agent))).toContain(agent.tokenId);
  await setPolicy(agent.tokenId);
  const client = await clientOf(agent);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Balance']);
  const other = await t.platform.makeScene(0n);
  expect((await call(client, 'Balance', { id: other.usd })).data).toEqual({ account: null });
});

test("a token cannot have another platform's document, and a deleted document is no longer a tool", async () => {
  const other = await t.newPlatform('other');
  const text = 'query Theirs { viewer { kind } }';
  await register(other, text);
  const wanted = { name: 'a', permissions: ['VIEW'], documents: [sha256(text)] };
  expect(await t.platform.act('createApiToken', wanted)).toMatchObject({ code: 'INVALID_INPUT' });
  const short = 'query Short { viewer { kind } }';
  await register(t.platform, short);
  const client = await clientOf(await tokenFor([short, balanceText], { permissions: ['VIEW'] }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Short', 'Balance']);
  await (await restOf(t.platform)).ask('DELETE', `/trusted-documents/${sha256(short)}`, undefined, 204);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Balance']);
});

test('a revoked token is rejected', async () => {
  const agent = await payingAgent();
  const client = await clientOf(agent);
  await t.platform.succeed('revokeApiToken', { tokenId: agent.tokenId });
  let answer = 'done';
  while (answer === 'done') answer = await messageOf(client.listTools());
  expect(answer).toContain('UNAUTHENTICATED');
});

const subscriptionText = 'subscription Follow { transactionUpdates { status } }';
const cancelText =
  'mutation Cancel($input: CancelQuoteInput!) { cancelQuote(input: $input) { ... on UserError { code } } }';
const blindText =
  'mutation Blind($input: TransferOutInput!) { transferOut(input: $input) { ... on UserError { code } } }';
const twiceText = `mutation Twice($a: TransferOutInput!, $b: TransferOutInput!) { a: transferOut(input: $a) { ${outcome} } b: transferOut(input: $b) { ${outcome} } }`;
const fixedText = transferText
  .replace('"Moves money out." mutation Transfer($input: TransferOutInput!)', 'mutation Fixed($amount: AmountInput!)')
  .replace(
    '$input',
    `{ sourceAccountId: "${scene.usd}", destinationAccountId: "${payees[0]}", amount: $amount, idempotencyKey: "one", validateOnly: false }`,
  );
test.each([
  ['a subscription', [subscriptionText], 'Follow cannot be a tool: a tool returns one result'],
  ['a document without a name', ['{ viewer { kind } }'], 'an operation without a name cannot be a tool'],
  ['a mutation without a dry run', [cancelText], 'Cancel cannot be a tool: cancelQuote cannot be validated first'],
  [
    'a mutation that hides its dry run',
    [blindText],
    'Blind cannot be a tool: it must select fields of ValidatedPayment',
  ],
  ['several mutations', [twiceText], 'Twice cannot be a tool: a mutation must have exactly one field'],
  ['a mutation with fixed settings', [fixedText], 'Fixed cannot be a tool: its input must be a variable'],
  [
    'two operations with one name',
    [balanceText, balanceText.replace('decimal', 'amount')],
    'two documents of this token have an operation named Balance',
  ],
])('a token with %s is refused, with a message that says why', async (_what, texts, reason) => {
  await register(t.platform, ...texts);
  expect(await messageOf(clientOf(await payingAgent(...texts)))).toContain(reason);
});

describe('a request', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  type Sent = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };
  const send = (init: Sent) =>
    fetch(`${t.url}/mcp`, { method: 'POST', ...init, headers: { ...accept, ...init.headers } });

  test('without credentials, or with a token that has no documents, is refused', async () => {
    const answer = async (headers: Record<string, string>) => {
      const response = await send({ body: JSON.stringify(ping), headers });
      return { status: response.status, ...(await response.json()) };
    };
    expect(await answer({})).toMatchObject({ status: 401, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    const { authorization } = t.platform;
    const none = { message: expect.stringContaining('no documents of its own') };
    expect(await answer({ authorization })).toMatchObject({ status: 403, errors: [none] });
  });

  test('must be a single JSON message, sent by POST', async () => {
    const { authorization } = await payingAgent();
    const statusOf = async (init: Sent) =>
      (await send({ ...init, headers: { authorization, ...init.headers } })).status;
    expect(await statusOf({ body: JSON.stringify(ping) })).toBe(200);
    expect(await statusOf({ body: JSON.stringify([ping, ping]) })).toBe(400);
    expect(await statusOf({ body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}' })).toBe(400);
    expect(await statusOf({ body: '{' })).toBe(400);
    for (const method of [{ toString: 1 }, ['ping'], 5, null])
      expect(await statusOf({ body: JSON.stringify({ ...ping, method }) })).toBe(400);
    expect(await statusOf({ body: JSON.stringify(ping), headers: { 'content-type': 'text/plain' } })).toBe(415);
    expect(await statusOf({ body: JSON.stringify({ ...ping, params: 'x'.repeat(200_000) }) })).toBe(413);
    expect([await statusOf({ method: 'GET' }), await statusOf({ method: 'DELETE' })]).toEqual([405, 405]);
  });

  test('for a stream of changes is refused, and its connection is not kept open', async () => {
    const client = await clientOf(await payingAgent(), { pin: '2026-07-28' });
    expect(await messageOf(client.listen({ toolsListChanged: true }))).not.toBe('done');
  });
});
