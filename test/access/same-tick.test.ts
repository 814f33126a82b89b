import { isRequiredArgument } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { exchange } from '../setup/raw-http.ts';
import { base, restClient } from '../setup/rest.ts';
import { neededQuery } from '../setup/rest-catalog.ts';
import { selection } from '../setup/selection.ts';
import { sequenced } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// The data that a request reads never depends on concurrent requests from other platforms. To test this, requests from
// two platforms are sent to the server in a single write.

/** A platform's objects, for use in paths and arguments. */
type Things = Readonly<Record<string, string>>;

const t = await testGateway();
const platforms = [t.platform, await t.newPlatform('other')];
const sides = await Promise.all(platforms.map(async (platform) => ({ platform, things: await makeThings(platform) })));
const paths = (await restClient(t.url, t.platform.authorization)).document.paths;

async function makeThings(platform: TestPlatform): Promise<Things> {
  const scene = await platform.makeScene();
  const { id: transactionId } = await platform.ended((await platform.pay(scene)).id);
  const receiverUmaAddress = await platform.umaAddressOf(scene.customerId);
  const lookup = await platform.lookUp('$success.usd@sandbox.uma.money');
  await platform.mint({ customerId: scene.customerId });
  const endpoint = await createEndpoint(platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['KYC_STATUS'] });
  const token = { name: 'a reader', permissions: ['VIEW'], idempotencyKey: 'same-in-both' };
  const { apiToken } = await platform.succeed('createApiToken', token, 'apiToken { id }');
  const { id: quoteId } = await platform.quote(usdToEur(scene));
  // Earlier events are sequenced first, so that the new endpoint gets none of them and does not change.
  await sequenced(t);
  const rest = await restClient(t.url, platform.authorization);
  await rest.ask('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/config' });
  return {
    customerId: scene.customerId,
    accountId: scene.usd,
    externalAccountId: scene.outsideUsd,
    transactionId,
    quoteId,
    lookupId: lookup.id,
    endpointId: endpoint.id,
    tokenId: apiToken.id,
    receiverUmaAddress,
  };
}

interface Exchange {
  readonly status: number;
  readonly body: string;
}

/** Sends requests over one connection in a single write, and returns their responses in the same order. */
async function pipelined(requests: readonly string[]): Promise<Exchange[]> {
  const last = requests.at(-1) ?? '';
  // Makes the server close the connection after the last response.
  const all = [...requests.slice(0, -1), last.replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nConnection: close\r\n')];
  return answersIn(await exchange(t.url, all.join('')));
}

/** Splits consecutive responses, and strips the chunk sizes from chunked ones. */
function answersIn(text: string): Exchange[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => {
    const content = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    return { status: Number(answer.slice(9, 12)), body: steady(content.replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '')) };
  });
}

/** Removes what differs from response to response: times, delivery attempts and receiver lookups. */
function steady(body: string): string {
  return body.replace(
    /\d{4}-\d\d-\d\dT[\d:.]+Z?|Lookup:[0-9a-f-]+|<MsgId>[^<]*|<Id>STMT[^<]*|"attempts":\[[^\]]*\]/g,
    '',
  );
}

/**
 * Sends each platform's request alone, then both concurrently, several times. All responses to the same platform must
 * be identical and free of errors. Returns one response for each platform.
 */
async function sameAlone(requestOf: (authorization: string, things: Things) => string): Promise<Exchange[]> {
  const requests = sides.map(({ platform, things }) => requestOf(platform.authorization, things));
  const alone = (await Promise.all(requests.map((request) => pipelined([request])))).flat();
  const inTurn = Array.from({ length: 8 }, (_each, at) => at % 2);
  const together = await pipelined(inTurn.map((side) => requests[side] ?? ''));
  expect(alone).not.toContainEqual(expect.objectContaining({ body: expect.stringMatching(/"errors":|INTERNAL/) }));
  expect(alone.map(({ status }) => status)).toEqual([200, 200]);
  expect(together).toEqual(inTurn.map((side) => alone[side]));
  return alone;
}

const host = 'Host: localhost\r\n';

function graphQlRequest(authorization: string, content: object): string {
  const body = JSON.stringify(content);
  const headers = `${host}Authorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `POST /graphql HTTP/1.1\r\n${headers}\r\n${body}`;
}

test('every REST read returns the same response even when another platform sends the same read in the same tick', async () => {
  const reads = Object.entries<Data>(paths).filter(([, { get }]) => get);
  expect(reads.length).toBeGreaterThan(15);
  for (const [path, { get }] of reads) {
    await sameAlone((authorization, things) => {
      const filled = path.replace(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(things[name] ?? name));
      const query = `?${(neededQuery[get.operationId] ?? []).join('&')}`;
      return `GET ${base}${filled}${query} HTTP/1.1\r\n${host}Authorization: ${authorization}\r\n\r\n`;
    });
  }
});

/** The required arguments of query fields. */
const neededArguments: Readonly<Record<string, (things: Things) => string>> = {
  account: ({ accountId }) => `id: "${accountId}"`,
  customer: ({ customerId }) => `id: "${customerId}"`,
  quote: ({ quoteId }) => `id: "${quoteId}"`,
  transaction: ({ transactionId }) => `id: "${transactionId}"`,
  exchangeRates: () => 'source: "USD"',
  mutationReceipt: () => 'operation: CREATE_API_TOKEN, idempotencyKey: "same-in-both"',
  node: ({ endpointId }) => `id: "${endpointId}"`,
  nodes: ({ receiverUmaAddress: _address, tokenId: _token, ...named }) =>
    `ids: ${JSON.stringify(Object.values(named))}`,
};

test('every query field returns the same data even when another platform requests the same field in the same tick', async () => {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const needing = fields.filter(({ args }) => args.some(isRequiredArgument)).map(({ name }) => name);
  expect(needing.sort()).toEqual(Object.keys(neededArguments).sort());
  for (const { name, type } of fields) {
    await sameAlone((authorization, things) => {
      const given = neededArguments[name]?.(things);
      const field = `${name}${given ? `(${given})` : ''} ${selection(type, name.endsWith('s') ? 3 : 2)}`;
      // Documents with a field that no plan reads, such as `viewer`, are resolved by the graphql-js executor.
      // Totals are removed, because counting all rows below each row would cost too much.
      const query = `{ ${field.replaceAll(/\btotalCount\b|\btransactionTotals\s*\{[^{}]*(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}/g, '')} viewer { kind } }`;
      return graphQlRequest(authorization, { query });
    });
  }
});

/** Inputs for validate-only commands. Commands sent in the same tick share the statement that reads their data. */
const dryRuns: Readonly<Record<string, (things: Things) => Data>> = {
  createQuote: ({ accountId, externalAccountId }) => ({
    source: { account: { accountId } },
    destination: { account: { accountId: externalAccountId } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: { units: 1_000 },
  }),
  executeQuote: ({ quoteId }) => ({ quoteId }),
  transferOut: ({ accountId, externalAccountId }) => ({
    sourceAccountId: accountId,
    destinationAccountId: externalAccountId,
    amount: { units: 1_000 },
    idempotencyKey: 'a-dry-run',
  }),
};

function dryRun(name: string, authorization: string, things: Things): string {
  const query = `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) {
    ... on ValidatedPayment { sentAmount { amount } } ... on UserError { code } } }`;
  return graphQlRequest(authorization, {
    query,
    variables: { input: { ...dryRuns[name]?.(things), validateOnly: true } },
  });
}

describe.each(Object.keys(dryRuns))('%s', (name) => {
  test('returns the same result even when another platform sends the same command in the same tick', async () => {
    const alone = await sameAlone((authorization, things) => dryRun(name, authorization, things));
    expect(alone.map(({ body }) => body)).toEqual(alone.map(() => expect.stringContaining('sentAmount')));
  });

  test('returns no data about other customers to an app, even if its platform sends the same input in the same tick', async () => {
    const platform = t.platform;
    const things = sides[0]?.things ?? {};
    const app = await platform.payingApp({ customerId: (await platform.makeScene()).customerId });
    const requests = [platform, app, platform, app].map(({ authorization }) => dryRun(name, authorization, things));
    // The first requests wait while their new credentials are looked up, so they do not run in the same tick.
    await pipelined(requests);
    const answers = await pipelined(requests);
    const [found, hidden] = [expect.stringContaining('sentAmount'), expect.stringContaining('NOT_FOUND')];
    expect(answers.map(({ body }) => body)).toEqual([found, hidden, found, hidden]);
  });
});

test('a Prisma query runs for the platform that it was created for, wherever it is awaited', async () => {
  const { prisma } = t.gateway.serving;
  const made = sides.map(({ platform: { platformId } }) =>
    asPlatform(platformId, () => prisma.platform.findFirst({ select: { id: true } })),
  );
  expect(await Promise.all(made)).toEqual(sides.map(({ platform }) => ({ id: platform.platformId })));
});
