import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { startChildGateway } from '../setup/child-gateway.ts';
import { freshDatabase } from '../setup/database.ts';
import { freePort, listen } from '../setup/free-port.ts';
import { connect, startTestGateway, uuidIn } from '../setup/gateway.ts';
import { askOps, typeIn } from '../setup/ops.ts';
import { bodyOf, passOn } from '../setup/pass-on.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { credentialsIn } from './two-gateways.ts';

const environment = {
  CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else',
  SECRET_KEY: randomBytes(32).toString('base64'),
  RAILS: JSON.stringify({ PRODUCTION: { module: 'upstream', settings: { pollMs: 10, identityMs: 10 } } }),
};

const traces: string[] = [];

/** How the provider fails. Some failures echo the request, as proxies and error pages do. */
const faults: Readonly<
  Record<string, (sent: string) => { readonly status: number; readonly body: string } | undefined>
> = {
  'Answers an error': (sent) => ({ status: 500, body: `cannot work on ${sent}` }),
  'Answers a page': (sent) => ({ status: 200, body: `<${sent}>` }),
  'Refuses the credentials': (sent) => ({ status: 401, body: JSON.stringify({ code: 'UNAUTHORIZED', message: sent }) }),
  'Refuses it for good': (sent) => ({ status: 400, body: JSON.stringify({ code: 'INVALID_INPUT', message: sent }) }),
  'Answers something else': (sent) => ({
    status: 200,
    body: JSON.stringify({ id: [sent], kycStatus: { [sent]: sent } }),
  }),
  'Cuts the connection': () => undefined,
};
const silence = 'Never answers';

const ops = (...args: string[]) => askOps(database.url, args, environment);

/** All credentials and webhook secrets that the platform has used with its provider. */
const secrets: { readonly clientId: string; readonly secret: string; readonly webhookSecret: string }[] = [];

/** Stores new credentials and a new webhook secret, as an operator who rotates them would. */
async function rotate(authorization: string, baseUrl: string): Promise<void> {
  const { clientId, secret } = credentialsIn(authorization);
  const path = `${instance.url}/rails/Platform:${platform.platformId}/webhooks`;
  const { secret: webhookSecret } = await createEndpoint(account, { url: path });
  secrets.push({ clientId, secret, webhookSecret });
  typeIn(JSON.stringify({ baseUrl, clientId, secret, webhookSecret }));
  await ops('rails', 'connect', 'secretive');
}

/** Returns the forms in which the secrets may appear. A parser's error message would show their first characters. */
const formsOf = ({ clientId, secret, webhookSecret }: (typeof secrets)[number]) => {
  const key = webhookSecret.replace('whsec_', '');
  const whole = [secret, `${clientId}:${secret}`, key].flatMap((one) => [
    ...[one, encodeURIComponent(one)],
    ...(['base64', 'base64url', 'hex'] as const).map((form) => Buffer.from(one).toString(form)),
  ]);
  return [...whole, secret.slice(0, 8), key.slice(0, 8)];
};

const upstream = await startTestGateway();
const account = await upstream.newPlatform('account');
for (const currency of ['USD', 'EUR']) await account.fund(await account.ownAccount(currency), 1_000_000n);
/** A proxy in front of the upstream service. A customer whose name contains the name of a fault triggers that fault. */
const provider = createServer(async (request, response) => {
  const body = await bodyOf(request);
  const name = Object.keys(faults).find((one) => body.includes(one));
  const [, basic = ''] = (request.headers.authorization ?? '').split(' ');
  if (body.includes(silence)) return;
  if (name === undefined) {
    const { status, type, text: answer } = await passOn(upstream.url, request, body);
    return void response.writeHead(status, { 'content-type': type }).end(answer);
  }
  const answer = faults[name]?.(name === 'Answers a page' ? (atob(basic).split(':')[1] ?? '') : `Basic ${basic}`);
  if (!answer) return void request.socket.destroy();
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
});
const providerUrl = `http://127.0.0.1:${await listen(provider)}/2025-10-13`;
const collector = createServer(async (request, response) => {
  traces.push(await text(request));
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const database = await freshDatabase();
const port = await freePort();
const figuresUrl = `http://127.0.0.1:${port}/metrics`;
const instance = await startChildGateway({
  ...environment,
  ...{ DATABASE_URL: database.url, LOG_LEVEL: 'debug', ACCESS_LOG: 'on' },
  ...{ METRICS_PORT: String(port), OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector)}` },
});
const made = await ops('platform', 'create', 'secretive');
const platform = connect(instance.url, uuidIn(made.id), made.authorization);
await rotate(account.authorization, providerUrl);
const scene = await platform.makeScene(0n);
afterAll(async () => {
  await instance.end('SIGKILL');
  for (const server of [provider, collector]) server.closeAllConnections();
  provider.close();
  collector.close();
  await upstream.stop();
  await database.drop();
});

const pull = () => platform.bringIn(scene, 20_000n);

const worked = () => vi.waitFor(async () => expect(instance.output()).toContain('"/rails/Platform:'), 20_000);

test("no log, metric, trace or response contains a provider's secrets, even while they rotate", async () => {
  await pull();
  await worked();
  const answers: unknown[] = [];
  const attempt = async (fullName: string) => {
    const input = { platformCustomerId: fullName, details: { individual: { fullName } } };
    answers.push(await platform.act('createCustomer', input, 'customer { id }'));
  };
  await Promise.all([...Object.keys(faults), silence].map(attempt));

  const { authorization: rotated } = await account.serverOf('VIEW', 'TRANSACT', 'MANAGE');
  await rotate(rotated, providerUrl);
  await pull();
  const made = await platform.quote(usdToEur(scene, { immediatelyExecute: true }));
  expect(await platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  // A message with an invalid signature is refused.
  const refused = await fetch(`${instance.url}/rails/Platform:${platform.platformId}/webhooks`, {
    method: 'POST',
    headers: {
      'webhook-id': '1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': 'v1,AAAA',
    },
    body: '{}',
  });
  expect(refused.status).toBe(401);
  // Nothing is listening at this address.
  const port = await freePort();
  await rotate(rotated, `http://127.0.0.1:${port}/2025-10-13`);
  await attempt('Is refused by nobody');
  const figures = await (await fetch(figuresUrl)).text();
  expect(await instance.end('SIGTERM')).toBe(0);

  // The output that is searched for secrets contains all of these failures.
  const printed = instance.output();
  expect(printed).toContain('upstream answered 500');
  expect(printed).toContain('upstream answered 401');
  expect(printed).toContain('ECONNREFUSED');
  // On a busy machine, the request's own time limit may be reached first.
  expect(printed).toMatch(/timeout|the rail did not answer within/);
  expect(figures).toContain('payments_');
  expect(traces.join('')).toContain('settle order');
  expect(answers).toHaveLength(Object.keys(faults).length + 2);
  expect(secrets).toHaveLength(3);
  expect(new Set(secrets.map(({ webhookSecret }) => webhookSecret)).size).toBe(3);

  const shown = { printed, figures, traces: traces.join('\n'), answers: JSON.stringify(answers) };
  for (const [where, what] of Object.entries(shown)) {
    const found = secrets.flatMap(formsOf).filter((form) => what.includes(form));
    expect({ where, found }).toEqual({ where, found: [] });
    expect(what).not.toContain(environment.SECRET_KEY);
  }
});
