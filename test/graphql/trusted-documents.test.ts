import { hash } from 'node:crypto';
import type { TypedDocumentNode } from '@urql/core';
import { type DocumentNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { moving, refusal } from '../setup/acts.ts';
import { mutationDocument } from '../setup/documents.ts';
import { eachTransport, type SentOperation } from '../setup/each-transport.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { automaticClients, type SentForm, urqlClient } from '../setup/persisted-clients.ts';
import { restClient } from '../setup/rest.ts';

/** Tests documents that a platform registers, and tokens that may send nothing else. */

const sha256 = (text: string) => hash('sha256', text);
const queryText = 'query Kind { viewer { kind } }';
const streamText = 'subscription Follow($id: ID!) { transactionUpdates(of: { transactionId: $id }) { status } }';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const register = (...texts: readonly string[]) =>
  rest.ask('POST', '/trusted-documents', Object.fromEntries(texts.map((text) => [sha256(text), text])));
const scene = await t.platform.makeScene();
const appWith = (more: object) => t.platform.appOf({ customerId: scene.customerId, ...more });
/** A payment that has ended, so its stream has one message and completes. */
const ended = (await t.platform.pay(scene)).id;
await t.platform.ended(ended);
await register(queryText, streamText);
/** An app that may send only registered documents. */
const bound = await appWith({ trustedDocumentsOnly: true });

/** Sends an operation, and returns its result or the first message of its stream. */
type SendOne = (platform: TestPlatform, sent: SentOperation) => Promise<Data>;

const sendOver =
  (name: keyof typeof eachTransport): SendOne =>
  async (platform, sent) =>
    (await eachTransport[name](platform, { ...sent, variables: { id: ended } }))[0];
const get = sendOver('GET');

const [queried, streamed] = [{ viewer: { kind: 'CLIENT' } }, { transactionUpdates: { status: 'COMPLETED' } }];
const transports: readonly (readonly [name: string, send: SendOne, text: string, data: object])[] = [
  ['POST', sendOver('POST'), queryText, queried],
  ['GET', get, queryText, queried],
  ['an event stream', sendOver('an event stream'), streamText, streamed],
  ['a socket', sendOver('a socket'), streamText, streamed],
];

const notInSafelist = { errors: [{ extensions: { code: 'QUERY_NOT_IN_SAFELIST' } }] };
const notInList = { errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' } }] };
const persisted = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } });

describe.each(transports)('over %s', (_name, send, text, data) => {
  test('a registered document is executed, whether it is sent as text or as either form of its hash', async () => {
    const forms: readonly SentOperation[] = [
      { documentId: `sha256:${sha256(text)}` },
      persisted(text),
      { query: text },
    ];
    for (const sent of forms) expect(await send(bound, sent)).toMatchObject({ data });
    // White space and comments make no difference.
    expect(await send(bound, { query: text.replace('{', '{\n  # the same\n') })).toMatchObject({ data });
  });

  test('a token limited to registered documents can send no others, either as text or by hash', async () => {
    const other = text.replace('{ ', '{ other: ');
    expect(await send(bound, { query: other })).toMatchObject(notInSafelist);
    expect(await send(bound, { documentId: sha256(other) })).toMatchObject(notInList);
    expect(await send(bound, persisted(other))).toMatchObject(notInList);
    // Nor can the token register a document by sending its text with its hash, as automatic persisted queries do.
    expect(await send(bound, { query: other, ...persisted(other) })).toMatchObject(notInSafelist);
    expect(await send(bound, persisted(other))).toMatchObject(notInList);
  });
});

describe('a token with its own documents', () => {
  const otherText = 'query Others { viewer { platformId } }';
  const hashes = [sha256(queryText), sha256(streamText)];
  const create = (by: TestPlatform, input: object) =>
    by.act('createApiToken', { name: 'own', permissions: ['VIEW', 'MANAGE'], ...input }, tokenSelection);
  const tokenSelection = 'secret apiToken { id clientId documents }';
  const bearerOf = ({ apiToken, secret }: Data) =>
    connect(t.url, t.platform.platformId, basicAuthorization({ clientId: apiToken.clientId, secret }));

  test.each(transports)('can send only its own documents over %s', async (_name, send, text, data) => {
    await register(otherText);
    const server = bearerOf(await create(t.platform, { documents: hashes }));
    const app = await appWith({ documents: hashes });
    expect(await send(app, { documentId: sha256(text) })).toMatchObject({ data });
    for (const own of [server, app]) {
      expect(await send(own, { query: text })).toMatchObject({ data: expect.anything() });
      expect(await send(own, { documentId: sha256(otherText) })).toMatchObject(notInList);
      expect(await send(own, { query: otherText })).toMatchObject(notInSafelist);
    }
  });

  test('cannot use REST', async () => {
    const { authorization } = bearerOf(await create(t.platform, { documents: hashes }));
    const own = await restClient(t.url, authorization);
    for (const path of ['/transactions', '/trusted-documents'])
      expect(await own.ask('GET', path, undefined, 403)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await own.ask('POST', '/tokens', { name: 'more', permissions: ['VIEW'] }, 403)).toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  test('creates and replaces only tokens whose documents are among its own', async () => {
    const texts = [
      mutationDocument('createClientToken', 'tokenId'),
      mutationDocument('createApiToken', tokenSelection),
      mutationDocument('rotateApiToken', tokenSelection),
    ];
    await register(otherText, ...texts);
    const documents = [sha256(queryText), ...texts.map(sha256)];
    const made = await create(t.platform, { documents });
    expect(made.apiToken.documents).toEqual(documents);
    const maker = bearerOf(made);
    expect(await create(maker, { documents: [sha256(queryText), sha256(otherText)] })).toMatchObject(
      refusal('FORBIDDEN', 'documents', 1),
    );
    const child = { boundTo: { customerId: scene.customerId }, documents: [sha256(otherText)] };
    expect(await maker.act('createClientToken', child, 'tokenId')).toMatchObject(refusal('FORBIDDEN', 'documents', 0));
    expect((await create(maker, {})).apiToken.documents).toEqual(documents);
    const { id: tokenId } = (await create(t.platform, {})).apiToken;
    const rotated = await maker.act('rotateApiToken', { tokenId, overlapHours: 0 }, tokenSelection);
    expect(rotated.apiToken.documents).toEqual(documents);
    const replaced = await t.platform.act('rotateApiToken', { tokenId: made.apiToken.id }, tokenSelection);
    expect(replaced.apiToken.documents).toEqual(documents);
  });

  test.each([
    [[], ['documents']],
    [
      [sha256(queryText), sha256('query Unknown { __typename }')],
      ['documents', 1],
    ],
    [['a\0b'], ['documents', 0]],
  ])('is not created with the documents %j', async (documents, path) => {
    expect(await create(t.platform, { documents })).toMatchObject(refusal('INVALID_INPUT', ...path));
  });

  test('shows its documents to callers who list tokens, and over REST', async () => {
    const { id } = (await create(t.platform, { documents: hashes })).apiToken;
    expect(await rest.ask('GET', `/tokens/${id}`)).toMatchObject({ documents: hashes });
    const body = { name: 'b', permissions: ['VIEW'], documents: hashes };
    const { clientSecret, ...made } = await rest.make('/tokens', body);
    expect([made.documents, clientSecret]).toEqual([hashes, expect.any(String)]);
    await appWith({ documents: hashes });
    const { clientTokens } = await t.platform.ask('{ clientTokens(first: 1) { edges { node { documents } } } }');
    expect(clientTokens.edges[0].node).toEqual({ documents: hashes });
  });
});

describe('a manifest', () => {
  const documentOf = (name: string) => `query Of { ${name}: __typename }`;
  const [relay, codegen, apollo] = [documentOf('relay'), documentOf('codegen'), documentOf('apollo')] as const;

  test.each([
    ['relay-compiler', { [hash('md5', relay)]: relay }, hash('md5', relay)],
    ['GraphQL Code Generator', { [hash('sha1', codegen)]: codegen }, hash('sha1', codegen)],
    [
      'Apollo',
      {
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: sha256(apollo), name: 'Of', type: 'query', body: apollo }],
      },
      sha256(apollo),
    ],
  ])('of %s is registered as the tool writes it, and only once', async (_tool, manifest, id) => {
    expect(await rest.ask('POST', '/trusted-documents', manifest)).toEqual({ registered: 1, existing: 0 });
    expect(await rest.ask('POST', '/trusted-documents', manifest)).toEqual({ registered: 0, existing: 1 });
    const { data } = await rest.ask('GET', '/trusted-documents');
    expect(data.map((one: Data) => one.hash)).toContain(id);
    expect(await get(bound, { documentId: id })).toMatchObject({ data: expect.anything() });
  });

  test.each([
    ['with the hash of another text', { [sha256('{ a }')]: '{ viewer { kind } }' }, /is not the SHA-256/],
    ['with a document that does not fit the schema', { [sha256('{ nothing }')]: '{ nothing }' }, /Cannot query field/],
    ['with a document that is malformed', { [sha256('{')]: '{' }, /Syntax Error/],
    ['in an unknown format', { documents: ['{ viewer { kind } }'] }, /unknown manifest format/],
  ])('%s is refused as a whole', async (_what, wrong, message) => {
    const good = `query Good { ${_what.replaceAll(/\W/g, '_')}: __typename }`;
    const refused = await rest.ask('POST', '/trusted-documents', { [sha256(good)]: good, ...wrong }, 400);
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(message) });
    const { data } = await rest.ask('GET', '/trusted-documents');
    expect(data.map((one: Data) => one.hash)).not.toContain(sha256(good));
  });

  test('belongs to one platform, and its hashes mean nothing to others', async () => {
    const stranger = await t.newPlatform('stranger');
    expect(await get(stranger, { documentId: sha256(queryText) })).toMatchObject({
      errors: [{ message: 'PersistedQueryNotSupported' }],
    });
    const others = await restClient(t.url, stranger.authorization);
    expect(await others.ask('GET', '/trusted-documents')).toEqual({ data: [] });
    await others.ask('DELETE', `/trusted-documents/${sha256(queryText)}`, undefined, 204);
    expect(await get(bound, { documentId: sha256(queryText) })).toMatchObject({ data: expect.anything() });
  });

  test('is not found by a malformed hash, whatever its characters', async () => {
    const unknown = await get(bound, { documentId: sha256('no document') });
    for (const none of ['a\0b', '\ud800', "'", 'f'.repeat(10_000)]) {
      expect(await get(bound, { documentId: none })).toEqual(unknown);
      const path = `/trusted-documents/${encodeURIComponent(none.toWellFormed()).slice(0, 4_000)}`;
      await rest.ask('DELETE', path, undefined, 204);
    }
  });

  test('loses a document that is deleted', async () => {
    const text = 'query Short { lived: __typename }';
    await register(text);
    expect(await get(bound, { documentId: sha256(text) })).toMatchObject({ data: { lived: 'Query' } });
    await rest.ask('DELETE', `/trusted-documents/${sha256(text)}`, undefined, 204);
    for (const sent of [{ documentId: sha256(text) }, { query: text }])
      expect(await get(bound, sent)).toMatchObject({ errors: [expect.anything()] });
  });
});

test("a platform's setting restricts its apps, or all its tokens, and REST can change it back", async () => {
  const own = await t.newPlatform('strict');
  const settings = await restClient(t.url, own.authorization);
  await settings.ask('PATCH', '/config', { trustedDocuments: 'ALL' });
  const text = '{ viewer { trustedDocumentsOnly } }';
  // A new token is not in the cache, which keeps credentials for two seconds.
  const newServer = async () => {
    const { clientId, clientSecret } = await settings.make('/tokens', { name: 'new', permissions: ['VIEW'] });
    return connect(t.url, own.platformId, basicAuthorization({ clientId, secret: clientSecret }));
  };
  const server = await newServer();
  expect(await server.send(text)).toMatchObject({ status: 403, ...notInSafelist });
  await settings.ask('POST', '/trusted-documents', { [sha256(text)]: text });
  expect(await server.ask(text)).toEqual({ viewer: { trustedDocumentsOnly: true } });
  const apps = { trustedDocuments: 'APPS' };
  expect(await settings.ask('PATCH', '/config', apps)).toMatchObject(apps);
  expect(await (await newServer()).ask('{ viewer { kind trustedDocumentsOnly } }')).toEqual({
    viewer: { kind: 'PLATFORM', trustedDocumentsOnly: false },
  });
});

test("urql's persisted exchange sends a manifest's hashes, and never the text of a document", async () => {
  const mutationText = mutationDocument('transferOut', 'transaction { id }');
  await register(mutationText);
  /** Returns a document as GraphQL Code Generator emits it, with its hash from the manifest. */
  const generated = (text: string): TypedDocumentNode<Data, Data> =>
    Object.assign(parse(text, { noLocation: true }), { __meta__: { hash: sha256(text) } });
  const sent: SentForm[] = [];
  const { authorization } = await appWith({ trustedDocumentsOnly: true, permissions: ['VIEW', 'TRANSACT'] });
  const app = urqlClient({ url: t.url, authorization }, sent, {
    ...{ enforcePersistedQueries: true, enableForMutation: true, enableForSubscriptions: true },
    generateHash: async (_text, document: DocumentNode & { __meta__?: { hash: string } }) => document.__meta__?.hash,
  });
  expect(await app.query(generated(queryText), {}).toPromise()).toMatchObject({ data: { viewer: { kind: 'CLIENT' } } });
  const input = moving(scene.usd, scene.outsideUsd, 100, { idempotencyKey: 'hashed' });
  expect(await app.mutation(generated(mutationText), { input }).toPromise()).toMatchObject({
    data: { transferOut: { transaction: { id: expect.any(String) } } },
  });
  expect(await app.subscription(generated(streamText), { id: ended }).toPromise()).toMatchObject({
    data: { transactionUpdates: { status: 'COMPLETED' } },
  });
  expect(sent).toEqual(['GET', 'POST', 'POST'].map((method) => ({ method, text: false, hash: true })));

  const { error } = await app.query(generated('query Other { viewer { kind } }'), {}).toPromise();
  expect(error?.graphQLErrors).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' } }]);
});

describe('automatic persisted queries', () => {
  test.each(automaticClients)('are not stored, so %s stops sending hashes', async (_name, sendTwice) => {
    const query = 'query Automatic { viewer { platformId } }';
    const sent = await sendTwice({ url: t.url, authorization: t.platform.authorization }, query);
    expect(sent.map(({ text, hash }) => ({ text, hash }))).toEqual([
      { text: false, hash: true },
      { text: true, hash: false },
      { text: true, hash: false },
    ]);
  });

  test('must match their hash', async () => {
    const wrong = { query: '{ viewer { kind } }', ...persisted('{ viewer { platformId } }') };
    const answer = await t.platform.post(wrong);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ message: 'provided sha does not match query' }] });
  });
});
