import { expect, test } from 'vitest';
import { webhookTypes } from '../../src/api/webhooks/webhooks.ts';
import { fillExamples, findIds } from '../../src/apps/console/fill-examples.ts';
import { warnOfExpiry } from '../../src/domain/access/tokens/token-records.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { base, restClient, restScene } from '../setup/rest.ts';
import { answer, testReceiver } from '../webhooks/receiver.ts';

const t = await testGateway({ PAYMENT_APPROVAL_MS: 60_000 });
const rest = await restClient(t.url, t.platform.authorization);
// The receiver accepts every event, and leaves the approval of payments to the test.
const receiver = await testReceiver(answer(202));
const scene = await restScene(rest);
const payer = {
  customerId: scene.customer.id,
  sourceAccountId: scene.usd.id,
  destinationAccountId: scene.outsideEur.id,
};

interface Sent {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly name: string;
}

/** The examples of all request bodies. */
const examples = Object.entries<Data>(rest.document.paths).flatMap(([path, methods]) =>
  Object.entries<Data>(methods).flatMap(([method, { operationId, requestBody }]) => {
    const names = Object.keys(requestBody?.content['application/json'].examples ?? {});
    return names.map((name): Sent => ({ operationId, method, path, name }));
  }),
);

/** Returns a path with the examples of its parameters filled in, as the console shows it. */
const exampleOf = (path: string, parameters: readonly Data[]) =>
  path.replace(
    /\{(\w+)\}/g,
    (_whole, parameter: string) => parameters.find(({ name }) => name === parameter).schema.example,
  );

/** Returns a function that sends the console's requests for ids. Other tests check responses against the document. */
const getAs =
  ({ authorization }: TestPlatform) =>
  async (path: string): Promise<string> => {
    const response = await fetch(`${t.url}${base}${path}`, { headers: { authorization } });
    return response.ok ? response.text() : '';
  };

/** For each operation that needs an object, a function that creates one, which is then the newest of its kind. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  sandboxSend: () => send(find('createQuote', 'realTimeFunding')),
  approveTransaction: () => send(find('sandboxReceiveUma', 'announce')),
  rotateToken: () => send(find('createToken', 'view')),
  rejectTransaction: () => send(find('sandboxReceiveUma', 'announce')),
  // The examples name a receiver on the reader's machine, where none is running during tests.
  testWebhook: async () => {
    await rest.ask('PATCH', '/config', { webhookEndpoint: null });
    return rest.ask('PATCH', '/config', { webhookEndpoint: receiver.url });
  },
};

function find(operationId: string, name: string): Sent {
  const found = examples.find((one) => one.operationId === operationId && one.name === name);
  if (!found) throw new Error(`${operationId} has no example ${name}`);
  return found;
}

/** The platform's ids as last read. */
let ids: ReadonlyMap<string, string> | undefined;

/** Sends an example as the console shows it, with the platform's current ids. */
async function send({ operationId, method, path, name }: Sent, completed = (body: Data, _schema: Data) => body) {
  const isOfNewest = before[operationId] !== undefined;
  await before[operationId]?.();
  if (isOfNewest || !ids) ids = await findIds(rest.document, getAs(t.platform), payer);
  const filled = fillExamples(rest.document, ids) as Data;
  const { parameters, requestBody } = filled.paths[path][method];
  const { examples, schema: ofBody } = requestBody.content['application/json'];
  const { value } = examples[name];
  const local = JSON.parse(JSON.stringify(value).replace('http://127.0.0.1:3000/webhooks', receiver.url));
  return rest.call(method.toUpperCase(), exampleOf(path, parameters), {
    raw: JSON.stringify(completed(local, ofBody)),
  });
}

let sent: Promise<readonly object[]> | undefined;

/** Sends every example, once for all tests. Returns the responses. */
function sendAll(): Promise<readonly object[]> {
  sent ??= (async () => {
    const answers: object[] = [];
    for (const example of examples) {
      const { status, text } = await send(example);
      answers.push({ ...example, status, text });
    }
    return answers;
  })();
  return sent;
}

/** Returns a copy of a value, with null for each member of its schema that the value omits. */
function withNulls(value: Data, schema: Data): Data {
  const { $ref, oneOf, properties, items } = schema ?? {};
  if ($ref) return withNulls(value, rest.document.components.schemas[$ref.split('/').at(-1)]);
  if (Array.isArray(value)) return value.map((item) => withNulls(item, items));
  if (oneOf)
    return withNulls(
      value,
      oneOf.find((one: Data) => isVariant(value, one)),
    );
  if (!properties) return value;
  const all = Object.entries<Data>(properties);
  return Object.fromEntries(all.map(([name, one]) => [name, name in value ? withNulls(value[name], one) : null]));
}

/** Returns whether a value has the constant members that identify a variant. */
function isVariant(value: Data, variant: Data): boolean {
  if (variant.$ref) return isVariant(value, rest.document.components.schemas[variant.$ref.split('/').at(-1)]);
  return Object.entries<Data>(variant.properties ?? {}).every(
    ([name, { enum: values }]) => values?.length !== 1 || value[name] === values[0],
  );
}

test('every operation with a body has examples, each with a summary', () => {
  for (const methods of Object.values<Data>(rest.document.paths)) {
    for (const { operationId, requestBody } of Object.values<Data>(methods)) {
      if (!requestBody) continue;
      const own = Object.values<Data>(requestBody.content['application/json'].examples ?? {});
      expect({ operationId, count: own.length }).not.toMatchObject({ count: 0 });
      for (const { summary } of own) expect(summary).toMatch(/^[A-Z0-9]/);
    }
  }
});

test('the sandbox accepts each example with the ids that the console inserts', async () => {
  const answers = await sendAll();
  expect(answers.length).toBeGreaterThan(20);
  for (const answer of answers) expect(answer).toMatchObject({ status: expect.toSatisfy((one) => one < 300) });
});

test('each GET succeeds in the sandbox with the parameters that the console inserts; optional query parameters have no example', async () => {
  await sendAll();
  // Hides pending quotes, because a platform that has been in use may have none.
  const read = getAs(t.platform);
  const readUsed = async (path: string) => (path.includes('status=PENDING') ? '{}' : read(path));
  const found = await findIds(rest.document, readUsed, payer);
  const filled = fillExamples(rest.document, found);
  for (const [path, { get }] of Object.entries<Data>(filled.paths)) {
    const inQuery: Data[] = get?.parameters?.filter((parameter: Data) => parameter.in === 'query') ?? [];
    expect(inQuery.filter(({ required, schema }) => !required && 'example' in schema)).toEqual([]);
    const required = inQuery.filter((parameter) => parameter.required);
    if (!get) continue;
    const query = new URLSearchParams(required.map(({ name, schema }) => [name, schema.example]));
    const { status, text } = await rest.call('GET', `${exampleOf(path, get.parameters ?? [])}?${query}`);
    expect({ path, status, text }).toMatchObject({ path, status: 200 });
  }
});

test('null is equivalent to omission: examples still create their objects if every omitted member is null', async () => {
  for (const example of examples.filter(({ method }) => method === 'post')) {
    // Earlier examples have used up some objects, so a conflict is allowed.
    const { status, text } = await send(example, withNulls);
    expect({ ...example, status, text }).toMatchObject({ status: expect.toSatisfy((one) => one < 300 || one === 409) });
  }
});

test('each webhook matches the schema of its type, and has the documented signature headers', async () => {
  const types = Object.keys(rest.document.webhooks);
  expect(types).toEqual(webhookTypes);
  await sendAll();
  await send(find('testWebhook', 'registered'));
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  await rest.make('/tokens', { name: 'short-lived', permissions: ['VIEW'], expiresAt });
  await warnOfExpiry(t.gateway.payments.database, 100);
  // The example approves a customer who is already approved, which causes no webhook.
  const { customer } = await restScene(rest, 0);
  await rest.ask('POST', `/sandbox/customers/${customer.id}/kyc-status`, { kycStatus: 'REJECTED' });
  await receiver.until((received) => types.every((type) => received.some(({ body }) => body.type === type)));
  for (const { body, headers } of receiver.received) {
    expect({ body, wrong: rest.wrongIn(body) }).toEqual({ body, wrong: undefined });
    const { parameters, requestBody } = rest.document.webhooks[body.type].post;
    const { $ref } = requestBody.content['application/json'].schema;
    const { properties } = rest.document.components.schemas[$ref.split('/').at(-1)];
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(body)));
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(parameters.map(({ name }: Data) => name)));
    expect(parameters).toHaveLength(3);
  }
});

test('a name that must be unique is different each time an example is sent', async () => {
  const first = find('createCustomer', 'person');
  for (let time = 0; time < 2; time += 1) expect((await send(first)).status).toBe(201);
});

test('if a platform has no object of a type, the example ids of that type stay as they are in the document', async () => {
  const few = await findIds(rest.document, getAs(await t.newPlatform('empty')), {});
  expect([...few.keys()].some((id) => id.startsWith('ExternalAccount:'))).toBe(false);
  const quoteExample = ({ paths }: Data) =>
    paths['/quotes'].post.requestBody.content['application/json'].examples.fromAccount.value;
  expect(quoteExample(fillExamples(rest.document, few))).toEqual(quoteExample(rest.document));
});
