import { hash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { parseRange } from '../../src/core/address-ranges.ts';
import { between } from '../setup/acts.ts';
import { connect, type TestPlatform, testGateway, untilRefused, uuidIn } from '../setup/gateway.ts';
import { expireToken } from '../setup/passing-time.ts';
import { restClient } from '../setup/rest.ts';
import type { Bearer } from '../setup/scene.ts';
import { nextOf, openEventStream, openRawSocket, type RawSocket, subscribed } from '../setup/streams.ts';

/** The rights of an open connection follow those of its token, even when the token is replaced, limited or revoked. */

const t = await testGateway({ WRONG_CREDENTIALS_PER_MINUTE: 6, TRUSTED_PROXIES: [parseRange('127.0.0.1')] });
const scene = await t.platform.makeScene();
const other = await t.platform.makeScene();
const stranger = await t.newPlatform('stranger');
const paid = await t.platform.quote(between(scene.usd, scene.outsideEur, 10_000));

const server = (permissions: readonly string[]) => t.platform.serverOf(...permissions);
const app = (input: object) => t.platform.appOf(input);
const ofCustomer = (rest?: object) => app({ customerId: scene.customerId, ...rest });

const balances = 'subscription { accountUpdates { account { id } newBalance { amount } } }';

/** Opens a socket that subscribes to balances. */
async function following(authorization: string, query = balances): Promise<RawSocket> {
  const before = t.gateway.feed.subscriptions;
  const raw = await openRawSocket(t.url, authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query } });
  await subscribed(t, before + 1);
  return raw;
}

/** Opens two event streams that subscribe to balances. Returns the last message of each stream. */
async function followingOverHttp(authorization: string): Promise<readonly Promise<string>[]> {
  const before = t.gateway.feed.subscriptions;
  const client = connect(t.url, '', authorization);
  const opened = [1, 2].map(() => client.post({ query: balances }, { accept: 'text/event-stream' }));
  const responses = await Promise.all(opened);
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  await subscribed(t, before + 2);
  return responses.map(async ({ body }) => {
    let said = '';
    try {
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) said += text;
    } catch {
      // The connection was cut.
    }
    return said;
  });
}

const renew = (raw: RawSocket, { authorization }: { readonly authorization: string }) =>
  raw.send({ type: 'ping', payload: { authorization } });

/** Expects the next message on a socket to be a refusal. */
async function refused(raw: RawSocket): Promise<void> {
  const { payload } = await Promise.race([raw.receive('error'), raw.receive('next')]);
  expect((payload.errors ?? payload)[0].extensions.code).toBe('FORBIDDEN');
}

const renewals: Readonly<Record<string, () => Promise<readonly [first: TestPlatform, newer: TestPlatform]>>> = {
  'a token that only pays': async () => [await server(['VIEW']), await server(['TRANSACT'])],
  'a token that only manages': async () => [await server(['VIEW']), await server(['MANAGE'])],
  'a token with fewer permissions': () => Promise.all([server(['VIEW', 'MANAGE']), server(['VIEW', 'TRANSACT'])]),
  'the token of another platform': async () => [await server(['VIEW']), stranger],
  'the token of an app': async () => [await server(['VIEW']), await ofCustomer()],
  'the token of a server': async () => [await ofCustomer(), await server(['VIEW'])],
  'the token of another customer': async () => [await ofCustomer(), await app({ customerId: other.customerId })],
  'the token of a quote': async () => [await ofCustomer(), await app({ quoteId: paid.id })],
  'the token of a transaction': async () => [await ofCustomer(), await app({ transactionId: paid.transaction.id })],
  'a token without its grant': async () => [await ofCustomer({ grants: ['LOOK_UP_RECEIVERS'] }), await ofCustomer()],
  'a token for registered documents only, although this document is not registered': async () => [
    await ofCustomer(),
    await ofCustomer({ trustedDocumentsOnly: true }),
  ],
};

test.each(Object.entries(renewals))(
  'a socket subscribed to balances ends when it is renewed with %s',
  async (_name, tokens) => {
    const [first, newer] = await tokens();
    const raw = await following(first.authorization);
    renew(raw, newer);
    expect((await raw.closed).code).toBe(4403);
    await subscribed(t, 0);
  },
);

test('a socket without subscriptions accepts a token with fewer rights, and is limited to those rights from then on', async () => {
  const raw = await openRawSocket(t.url, (await server(['VIEW', 'TRANSACT'])).authorization);
  renew(raw, await server(['TRANSACT']));
  await raw.receive('pong');
  for (const [id, query] of Object.entries({ 1: balances, 2: '{ customers { totalCount } }' })) {
    raw.send({ id, type: 'subscribe', payload: { query } });
    await refused(raw);
  }
  raw.socket.close();
});

test('a stream that is renewed with the same or more rights continues, and ends when the new token does', async () => {
  const [first, newer] = [await server(['VIEW']), await server(['VIEW', 'TRANSACT'])];
  const raw = await following(first.authorization);
  renew(raw, newer);
  await raw.receive('pong');
  await t.platform.succeed('revokeApiToken', { tokenId: first.tokenId });
  await untilRefused(first);
  await t.platform.fund(scene.usd, 1n);
  expect((await raw.receive('next')).payload.data.accountUpdates.account.id).toBe(scene.usd);
  await t.platform.succeed('revokeApiToken', { tokenId: newer.tokenId });
  expect((await raw.closed).code).toBe(4403);
  await subscribed(t, 0);
});

test('a stream that is still opening is refused if its socket is renewed with fewer rights', async () => {
  const raw = await openRawSocket(t.url, (await server(['VIEW'])).authorization);
  const client = await t.owner.connect();
  await client.query('begin; lock table feed_head in access exclusive mode');
  raw.send({ id: '1', type: 'subscribe', payload: { query: balances } });
  const blocked = `select from pg_locks where not granted and relation = 'feed_head'::regclass`;
  await vi.waitFor(async () => expect((await client.query(blocked)).rowCount).toBeGreaterThan(0), { timeout: 60_000 });
  renew(raw, await server(['TRANSACT']));
  await raw.receive('pong');
  await client.query('commit');
  client.release();
  await refused(raw);
  raw.socket.close();
  await subscribed(t, 0);
});

test('a socket rejects new credentials that cannot be looked up, and continues with its current ones', async () => {
  const address = { 'x-forwarded-for': '198.51.100.77' };
  const raw = await openRawSocket(t.url, t.platform.authorization, { headers: address });
  const wrong = connect(t.url, '', 'Basic bm9ib2R5Om5vdGhpbmc=');
  const guess = () => wrong.post({ query: '{ __typename }' }, address);
  for (let sent = 0; sent < 6; sent += 1) await guess();
  expect((await guess()).status).toBe(429);
  // The new platform's token has not been used yet, so it would have to be looked up.
  renew(raw, await t.newPlatform('unseen'));
  await raw.receive('pong');
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ customers { totalCount } }' } });
  expect((await raw.receive('next')).payload.data.customers.totalCount).toBeGreaterThan(1);
  raw.socket.close();
});

const ofServer = () => server(['VIEW']);
type Ending = readonly [code: string, token: () => Promise<Bearer>, end: (token: Bearer) => Promise<unknown>];
const endings: Readonly<Record<string, Ending>> = {
  'is revoked': [
    'UNAUTHENTICATED',
    ofServer,
    ({ tokenId }) => t.platform.succeed('revokeApiToken', { tokenId, revokeDescendants: false }),
  ],
  'loses its permission to read': [
    'FORBIDDEN',
    ofServer,
    ({ tokenId: id }) => t.owner.query(`update api_token set permissions = '{TRANSACT}' where id = $1`, [uuidIn(id)]),
  ],
  'of an app is revoked': [
    'UNAUTHENTICATED',
    ofCustomer,
    ({ tokenId }) => t.platform.succeed('revokeClientToken', { tokenId }),
  ],
  // The database clock decides whether a token has expired.
  'of an app expires': ['UNAUTHENTICATED', ofCustomer, ({ tokenId }) => expireToken(t, tokenId)],
};

test.each(Object.entries(endings))(
  "a token's streams end within seconds when the token %s",
  async (_name, [code, make, end]) => {
    const [token, living] = [await make(), await following((await make()).authorization)];
    const raw = await following(token.authorization);
    const said = await followingOverHttp(token.authorization);
    await end(token);
    expect((await raw.closed).code).toBe(4403);
    for (const all of await Promise.all(said)) expect(all).toContain(code);
    await subscribed(t, 1);
    await t.platform.fund(scene.usd, 1n);
    await living.receive('next');
    living.socket.close();
    await subscribed(t, 0);
  },
);

const registered = 'subscription Own { accountUpdates { account { id } } }';

test('once a platform allows only registered documents, streams of other documents end, and streams of a registered document end when it is deleted', async () => {
  const own = await t.newPlatform('strict');
  const account = (await own.makeScene()).usd;
  const settings = await restClient(t.url, own.authorization);
  await settings.ask('POST', '/trusted-documents', { [hash('sha256', registered)]: registered });
  const goesOn = await following(own.authorization, registered);
  const ends = await following(own.authorization);
  const overHttp = await openEventStream(`${t.url}/graphql`, own.authorization, { query: balances });
  await subscribed(t, 3);
  const told = nextOf(overHttp.events);
  await settings.ask('PATCH', '/config', { trustedDocuments: 'ALL' });
  expect((await ends.closed).code).toBe(4403);
  expect(await told).toMatchObject({ data: { errors: [{ extensions: { code: 'FORBIDDEN' } }] } });
  await subscribed(t, 1);
  await settings.ask('POST', `/sandbox/internal-accounts/${account}/fund`, { amount: 7 });
  expect((await goesOn.receive('next')).payload.data.accountUpdates.account.id).toBe(account);
  await settings.ask('DELETE', `/trusted-documents/${hash('sha256', registered)}`, undefined, 204);
  expect((await goesOn.closed).code).toBe(4403);
  await subscribed(t, 0);
});
