import { expect, test, vi } from 'vitest';
import type { Operation } from '../../src/domain/access/operations.ts';
import { isDatabaseFault } from '../../src/infra/database/faults.ts';
import { moving } from '../setup/acts.ts';
import { testProxy } from '../setup/database-proxy.ts';
import { type Data, type TestPlatform, testClient, testGateway } from '../setup/gateway.ts';
import { restTransfer } from '../setup/rest.ts';
import { withNewCredentials } from '../setup/scene.ts';

const { database, proxy } = await testProxy();
/** A superuser connection to another database on the same server. */
const server = await testClient({ databaseUrl: database.url.replace(/\/[^/]*$/, '/postgres') });
const t = await testGateway({}, proxy.url);
const platform = await t.newPlatform('shaken');
const scene = await platform.makeScene(1_000_000n);

const name = () => new URL(database.url).pathname.slice(1);

/** Ends all sessions in the database, as a server does when it shuts down. */
const endSessions = () =>
  server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name()]);

/** Sends a request, and returns whether the response's status or data says that the service is unavailable. */
type Call = (by: TestPlatform) => Promise<{ readonly unavailable: boolean; readonly answer: unknown }>;

interface HttpCall {
  readonly body?: object | undefined;
  readonly accept?: string;
  readonly authorization?: string | undefined;
}

/** A request to the given path, with the platform's credentials unless others are given. */
const overHttp =
  (method: string, path: string, { body, accept, authorization }: HttpCall = {}): Call =>
  async (by) => {
    const response = await fetch(`${t.url}${path}`, {
      method,
      headers: {
        ...{ authorization: authorization ?? by.authorization, 'content-type': 'application/json' },
        ...{ 'idempotency-key': crypto.randomUUID(), ...(accept !== undefined && { accept }) },
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = { status: response.status, text: await response.text() };
    const isStream = accept === 'text/event-stream';
    // Retry-After varies for streams, to spread reconnects. With cached credentials, a stream opens and then reports
    // the error.
    const retryAfter = isStream ? /^[1-5]$/ : /^1$/;
    const isLater = response.status === 503 && retryAfter.test(response.headers.get('retry-after') ?? '');
    const hasBegun = isStream && authorization === undefined && response.status === 200;
    return { unavailable: (hasBegun || isLater) && answer.text.includes('"SERVICE_UNAVAILABLE"'), answer };
  };

const overRest = (method: string, path: string, body?: object) => overHttp(method, `/2025-10-13${path}`, { body });

const stranger = `Basic ${btoa('nobody:nothing')}`;
const document = '{ customers { edges { node { id } } } }';

/** Every way to query over HTTP. A request whose credentials must be looked up is refused before its query runs. */
const overEachForm = (authorization?: string): readonly Call[] => [
  ...['application/json', 'application/graphql-response+json', 'text/event-stream'].map((accept) =>
    overHttp('POST', '/graphql', { body: { query: document }, accept, authorization }),
  ),
  overHttp('GET', `/graphql?query=${encodeURIComponent(document)}`, { authorization }),
];

const mutation =
  (operation: Operation, input: object): Call =>
  async (by) => {
    const answer = await by
      .act(operation, { ...input, idempotencyKey: crypto.randomUUID() }, '__typename')
      .catch((error: unknown) => ({ thrown: String(error) }));
    return { unavailable: answer.__typename === 'UnavailableError', answer };
  };

const query =
  (document: string): Call =>
  async (by) => {
    const answer = await by.send(document);
    return { unavailable: answer.errors?.[0]?.extensions.code === 'SERVICE_UNAVAILABLE', answer };
  };

const overSocket =
  (document: string): Call =>
  async (by) => {
    const client = by.socket();
    try {
      for await (const result of client.iterate({ query: document })) {
        const code = (result as Data).errors?.[0]?.extensions.code;
        return { unavailable: code === 'SERVICE_UNAVAILABLE', answer: result };
      }
    } catch (error) {
      const [refused]: Data[] = Array.isArray(error) ? error : [error];
      // The code is 1013 if the credentials had to be looked up again.
      const isLater = refused.code === 1_013 || refused.extensions?.code === 'SERVICE_UNAVAILABLE';
      return { unavailable: isLater, answer: refused };
    } finally {
      await client.dispose();
    }
    return { unavailable: false, answer: 'nothing' };
  };

const reads = (): readonly Call[] => [
  query(document),
  query('{ viewer { feedCursor } }'),
  overSocket(document),
  overRest('GET', '/customers'),
  overRest('GET', '/tokens'),
  overRest('GET', '/config'),
];

const writes = (): readonly Call[] => [
  mutation('transferOut', moving(scene.usd, scene.outsideUsd, 100)),
  mutation('createApiToken', { name: 'another', permissions: ['VIEW'] }),
  mutation('createClientToken', { boundTo: { customerId: scene.customerId }, permissions: ['VIEW'] }),
  mutation('createWebhookEndpoint', { url: 'http://127.0.0.1:9/hook' }),
  overRest('POST', '/transfer-out', restTransfer(scene.usd, scene.outsideUsd, 100)),
  overRest('POST', '/tokens', { name: 'third', permissions: ['VIEW'] }),
  overRest('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/other' }),
  overRest('DELETE', `/customers/${scene.customerId}`),
];

/** Sends all calls concurrently. Returns the responses other than SERVICE_UNAVAILABLE. */
async function otherwiseAnswered(calls: readonly Call[], by: TestPlatform): Promise<unknown[]> {
  const answers = await Promise.all(calls.map((call) => call(by)));
  return answers.filter(({ unavailable }) => !unavailable).map(({ answer }) => answer);
}

/** Waits until a payment can be made and is settled in the background. */
async function untilRecovered(): Promise<void> {
  const { id } = await vi.waitFor(() => platform.pay(scene), 60_000);
  expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
}

test('while the database is read-only, commands report that nothing happened, and lists still work', async () => {
  await server.query(`alter database ${name()} set default_transaction_read_only = on`);
  await endSessions();
  await vi.waitFor(() => platform.ask('{ viewer { kind } customers { totalCount } }'), 60_000);
  expect(await otherwiseAnswered(writes(), platform)).toEqual([]);
  for (const call of reads()) expect(await call(platform)).toMatchObject({ unavailable: false });
  await server.query(`alter database ${name()} reset default_transaction_read_only`);
  // Sessions opened while the database was read-only still cannot write, so the service must drop them on its own.
  await untilRecovered();
  await Promise.all(Array.from({ length: 20 }, () => platform.pay(scene)));
});

test.each<[string, { stage(): Promise<unknown>; end(): Promise<unknown> }]>([
  ['a server that has stopped', { stage: () => proxy.stopListening(), end: () => proxy.startListening() }],
  [
    'a database that accepts no connections',
    {
      stage: () => server.query(`alter database ${name()} with allow_connections false`),
      end: () => server.query(`alter database ${name()} with allow_connections true`),
    },
  ],
  [
    'a database renamed for a restore',
    {
      async stage() {
        await server.query(`alter database ${name()} with allow_connections false`);
        await endSessions();
        await vi.waitFor(() => server.query(`alter database ${name()} rename to ${name()}_away`), 60_000);
      },
      async end() {
        await server.query(`alter database ${name()}_away rename to ${name()}`);
        await server.query(`alter database ${name()} with allow_connections true`);
      },
    },
  ],
])('%s: every request reports that nothing happened, and payments work again afterwards', async (_fault, fault) => {
  const remembered = await withNewCredentials(platform, t.url);
  await fault.stage();
  await endSessions();
  expect(await otherwiseAnswered([...reads(), ...writes()], remembered)).toEqual([]);
  expect(await otherwiseAnswered([...overEachForm(), ...overEachForm(stranger)], remembered)).toEqual([]);
  await fault.end();
  await untilRecovered();
});

test.each([
  Object.assign(new Error('connect ENOENT /run/postgresql/.s.PGSQL.5432'), { code: 'ENOENT', syscall: 'connect' }),
  Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
  new Error('The server does not support SSL connections'),
])('a failed connection means that nothing happened: %s', (error) => {
  expect(isDatabaseFault(error)).toBe(true);
});
