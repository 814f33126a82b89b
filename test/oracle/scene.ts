import { hash } from 'node:crypto';
import { accountExamples } from '../../src/core/account-examples.ts';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { freezeAccount, freezeCustomer } from '../../src/domain/commands/adjustments.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';
import { between, fundedIn } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import {
  type Data,
  setAccountStatus,
  startTestGateway,
  type TestGateway,
  type TestPlatform,
} from '../setup/gateway.ts';
import { base } from '../setup/rest.ts';
import type { Scene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil } from '../webhooks/endpoint.ts';
import { answer, startReceiver } from '../webhooks/receiver.ts';

export interface Caller {
  readonly name: string;
  readonly authorization: string;
  readonly platformId: string;
  /** For an app, the public id of its token. */
  readonly tokenId?: string;
  /** Which of the two platforms the caller belongs to. */
  readonly platform: 0 | 1;
}

/** A database with two platforms that no longer change, and all callers that may query them. */
export interface QuietScene {
  readonly databaseUrl: string;
  readonly callers: readonly Caller[];
  /** Idempotency keys with their operations: several used keys and one unused key. */
  readonly keys: readonly (readonly [operation: string, key: string])[];
  drop(): Promise<void>;
}

/** Longer than the duration of any test that reads the scene. */
const neverMs = 3_600_000;

/** Creates the scene with its own gateway, waits until no work is in progress, and stops that gateway. */
export async function makeQuietScene(): Promise<QuietScene> {
  const database = await freshDatabase();
  const maker = await startTestGateway({ SANDBOX_PACE_MS: 5, PAYMENT_APPROVAL_MS: neverMs }, database.url);
  // Quotes and approvals created on this gateway expire immediately, and are then processed by the workers of `maker`.
  const late = await startTestGateway(
    { ROLE: 'serve', SANDBOX_QUOTE_SECONDS: 0, PAYMENT_APPROVAL_MS: 1 },
    database.url,
  );
  // The receiver responds with 202, which leaves the approval of payments to the scene.
  const receiver = await startReceiver(answer(202));
  const refusing = await startReceiver(answer(500));
  try {
    const platforms = [await maker.newPlatform('first'), await maker.newPlatform('second')] as const;
    const [first, second] = await Promise.all([makeCustomers(platforms[0]), makeCustomers(platforms[1])]);
    for (const platform of platforms) {
      await createEndpoint(platform, { url: receiver.url, description: 'takes all' });
      await createEndpoint(platform, { url: refusing.url, eventTypes: ['OUTGOING_PAYMENT', 'KYC_STATUS'] });
    }
    const bound = await Promise.all([
      makePayments(platforms[0], first, late.url),
      makePayments(platforms[1], second, late.url),
    ]);
    await payBetween(platforms[0], first, platforms[1], second);
    await payBetween(platforms[1], second, platforms[0], first);
    await moreOfEverything(maker, platforms[0], first);
    const callers = [
      ...(await callersOf(maker.url, 0, platforms[0], first, bound[0])),
      ...(await callersOf(maker.url, 1, platforms[1], second, bound[1])),
    ];
    await limitSome(platforms[0], first, callers);
    await endSome(maker, platforms[0], first);
    await untilQuiet(maker);
    return { databaseUrl: database.url, callers, keys: usedKeys, drop: () => database.drop() };
  } finally {
    await late.stop();
    await maker.stop();
    await receiver.stop();
    await refusing.stop();
  }
}

const usedKeys: readonly (readonly [string, string])[] = [
  ['transferOut', 'succeeds'],
  ['transferOut', 'is-refused'],
  ['createCustomer', 'a-business'],
  ['createExternalAccount', 'at-bank-a'],
  ['createApiToken', 'a-token'],
  ['createClientToken', 'an-app'],
  ['approveTransaction', 'decided-before'],
  ['sandboxFundAccount', 'by-the-app'],
  ['transferOut', 'never-used'],
];

const address = { line1: 'Weg 1', line2: 'Hof', city: 'Berlin', state: 'BE', postalCode: '10115', country: 'DE' };

/** Returns an entry of metadata. */
const noted = (key: string, value: string) => ({ key, value });

interface Customers {
  /** The two customers who make payments. */
  readonly payers: readonly [Scene, Scene];
  readonly all: readonly string[];
}

async function makeCustomers(platform: TestPlatform): Promise<Customers> {
  const payers = [await platform.makeScene(5_000_000n), await platform.makeScene(3_000_000n)] as const;
  const create = async (platformCustomerId: string, details: object, more: object = {}): Promise<string> =>
    (await platform.act('createCustomer', { platformCustomerId, details, ...more }, 'customer { id }')).customer.id;
  const beneficialOwners = [
    {
      ...{ fullName: 'Ada Lovelace', individualType: 'DIRECTOR', percentageOwnership: '33.5' },
      ...{ address, birthDate: '1985-12-10' },
    },
    {
      ...{ fullName: 'Alan Turing', individualType: 'TRUSTEE', emailAddress: 'alan@example.com', nationality: 'GB' },
      ...{ phoneNumber: '+441234567890', taxId: 'QQ123456C', title: 'Dr' },
    },
  ];
  const details = { legalName: 'Acme GmbH', registrationNumber: 'HRB 1', taxId: 'DE1', address, beneficialOwners };
  const metadata = [noted('tier', 'gold'), noted('Region', 'eu'), noted('10', '"ü"')];
  const business = await create('business', { business: details }, { idempotencyKey: 'a-business', metadata });
  const person = await create('person', {
    individual: { fullName: 'Mary Jackson', birthDate: '1981-04-09', nationality: 'US', address },
  });
  await create('pending001', { individual: { fullName: 'Pending 001' } });
  await create('rejected002', { individual: { fullName: 'Rejected 002' } });
  const deleted = await create('gone', { individual: { fullName: 'Gone' } });
  await platform.act('deleteCustomer', { customerId: deleted });
  await platform.act('updateCustomer', { customerId: person, details: { individual: { nationality: 'FR' } } });
  const all = [payers[0].customerId, payers[1].customerId, business, person, deleted];
  return { payers, all };
}

/**
 * Makes payments of every kind and outcome. Returns the objects, besides customers, that client tokens are bound to.
 */
async function makePayments(platform: TestPlatform, { payers, all }: Customers, lateUrl: string): Promise<object[]> {
  const [one, two] = payers;
  const ends: Promise<unknown>[] = [];
  const ending = ({ id }: Data) => ends.push(platform.ended(id));
  const out = (from: Scene, more: object = {}) => platform.pay(from, 1_234, more);

  const metadata = [noted('invoice', '7')];
  const completed = await out(one, { description: 'rent', idempotencyKey: 'succeeds', metadata });
  ending(completed);
  ending(await out(two));
  await platform.transfer('transferOut', one, 8_000_000_000, { idempotencyKey: 'is-refused' });
  ending(await out(one, { sandboxScenario: { failureReason: 'OFFRAMP_FAILED' } }));
  ending(await out(two, { sandboxScenario: { failureReason: 'QUOTE_EXECUTION_FAILED', refundFails: true } }));
  ending(await out(one, { sandboxScenario: { reject: true } }));
  const returned = await out(two, { sandboxScenario: { returnAfterMs: 20 } });
  await out(one, { sandboxScenario: { delayMs: neverMs } });

  const into = (to: Scene, more?: object) => platform.transfer('transferIn', to, 4_321, more);
  ending(await into(one));
  ending(await into(two, { description: 'pulled', sandboxScenario: { failureReason: 'QUOTE_EXECUTION_FAILED' } }));
  await into(one, { sandboxScenario: { delayMs: neverMs } });

  const toEuro = (from: Scene, more?: object, by = platform) =>
    by.quote(between(from.usd, from.outsideEur, 10_000, more));
  const open = await toEuro(one, { description: 'open', metadata: [noted('b', '2'), noted('a', '1')] });
  const executed = await toEuro(one, { lockedCurrencySide: 'RECEIVING' });
  await platform.execute(executed.id);
  ending(executed.transaction);
  const sandboxScenario = { failureReason: 'OFFRAMP_FAILED' };
  ending((await toEuro(two, { immediatelyExecute: true, sandboxScenario })).transaction);
  ending((await platform.quote(between(one.usd, two.eur, 2_000, { immediatelyExecute: true }))).transaction);
  const pulled = { source: { account: { accountId: two.outsideUsd } }, immediatelyExecute: true };
  ending((await toEuro(two, pulled)).transaction);
  const impatient = platform.at(lateUrl);
  ending((await toEuro(two, {}, impatient)).transaction);

  const funded = (of: Scene, by: TestPlatform = platform, currency = 'USDC') =>
    by.quote(fundedIn(currency, of, 5_000, { lockedCurrencySide: 'RECEIVING' }));
  const send = (quoteId: string, more: object = {}) =>
    platform.actOn('sandboxSend', { quoteId, currency: 'USDC', ...more });
  const waiting = await funded(one);
  await funded(two, platform, 'BTC');
  await funded(one, platform, 'BRL');
  const paid = await funded(two);
  await send(paid.id);
  ending(paid.transaction);
  for (const deposit of ['SHORT', 'TWICE', 'LATE']) {
    const { id, transaction } = await funded(deposit === 'TWICE' ? two : one);
    await send(id, { sandboxScenario: { deposit } });
    ending(transaction);
  }
  const tooLate = await funded(one, impatient);
  await platform.ended(tooLate.transaction.id);
  await send(tooLate.id);

  const receive = (to: string, more?: object, by = platform) => by.announce(to, 5_000, more);
  const approved = await receive(one.customerId);
  await platform.actOn('approveTransaction', { transactionId: approved.id });
  ending(approved);
  const rejected = await receive(two.customerId, { currency: 'EUR' });
  await platform.actOn('rejectTransaction', { transactionId: rejected.id, reason: 'unknown sender' });
  ending(rejected);
  await platform.actOn('approveTransaction', { transactionId: rejected.id, idempotencyKey: 'decided-before' });
  ending(await receive(two.customerId, {}, impatient));
  const pending = await receive(one.customerId, { requestedReceiverFields: ['TAX_ID'] });
  await receive(all[3] ?? '', { sandboxScenario: { step: 'PAY_REQUEST', delayMs: neverMs } });
  ending(await receive(one.customerId, { sandboxScenario: { step: 'PAY_REQUEST', failureReason: 'LNURLP_FAILED' } }));
  for (const [from, to] of [
    [one.usd, '$success.usd@sandbox.uma.money'],
    [two.usd, '$fail.compliance.usd@sandbox.uma.money'],
  ] as const)
    ending((await platform.umaQuote(from, to, { immediatelyExecute: true })).transaction);

  await Promise.all(ends);
  await platform.untilStatus(returned.id, 'REFUNDED');
  return [
    { quoteId: executed.id },
    { quoteId: open.id },
    { transactionId: completed.id },
    { transactionId: waiting.transaction.id },
    { transactionId: pending.id },
  ];
}

/** Makes UMA payments from a customer of `from` to a customer of `to`: one arrives, one is rejected, one waits. */
async function payBetween(from: TestPlatform, sender: Customers, to: TestPlatform, receiver: Customers): Promise<void> {
  const umaAddress = await to.umaAddressOf(receiver.payers[1].customerId);
  for (const decision of ['approveTransaction', 'rejectTransaction', undefined] as const) {
    const before = await to.feedEnd();
    const sent = await from.umaQuote(sender.payers[0].usd, umaAddress, { immediatelyExecute: true });
    if (!sent.id) throw new Error(JSON.stringify(sent));
    const arrived = await to.seen(before, ({ type, status }) => type === 'INCOMING' && status === 'PENDING');
    if (!decision) continue;
    await to.actOn(decision, { transactionId: arrived.id });
    await from.ended(sent.transaction.id);
    await to.ended(arrived.id);
  }
}

const owner = { individual: { fullName: 'Grace Hopper', birthDate: '1986-12-09', nationality: 'US', address } };
const company = { business: { legalName: 'Acme GmbH', registrationNumber: 'HRB 1', taxId: 'DE1', address } };

/** Creates external accounts of every kind, lookups, and other objects that only one of the platforms has. */
async function moreOfEverything(maker: TestGateway, platform: TestPlatform, { payers, all }: Customers): Promise<void> {
  const [one] = payers;
  const { externalAccountForms: forms } = await platform.ask(
    '{ externalAccountForms { accountType inputField beneficiaryRequired currencies { code } fields { name } } }',
  );
  for (const { accountType, inputField, beneficiaryRequired, currencies, fields } of forms) {
    const bank = fields.some(({ name }: Data) => name === 'bankName') && { bankName: 'Bank' };
    // Some examples spell an earlier example's account differently, and are refused because the account already exists.
    for (const [at, details] of accountExamples[accountType as ExternalAccountType].taken.entries())
      await platform.act('createExternalAccount', {
        ...{ customerId: one.customerId, currency: currencies[0].code },
        accountInfo: { [inputField]: { ...bank, ...details } },
        beneficiary: beneficiaryRequired ? owner : undefined,
        ...{ platformAccountId: `own-${inputField}-${at}`, metadata: [noted('ledger', inputField)] },
      });
  }
  const us = (accountNumber: string) => ({
    usAccount: { accountNumber, routingNumber: '021000021', accountCategory: 'SAVINGS', bankName: 'A Bank' },
  });
  const create = (number: string, more: object) =>
    platform.act('createExternalAccount', { currency: 'USD', accountInfo: us(number), beneficiary: company, ...more });
  await create('9000001', { platformAccountId: 'own', metadata: [noted('ledger', '1200')] });
  await create('9000002103', { customerId: all[2], idempotencyKey: 'at-bank-a', defaultUmaDepositAccount: true });
  const held = await platform.externalAccount(all[3] ?? '', 'USD', us('9000003204'));
  await setAccountStatus(maker, held, 'ACTIVE');
  await setAccountStatus(maker, held, 'INACTIVE', 'closed');
  for (const number of ['9000004102', '9000005204', '9000006202'])
    await platform.externalAccount(all[3] ?? '', 'USD', us(number));
  await platform.lookUp('$success.eur@sandbox.uma.money', { sender: { customerId: one.customerId } });
  await platform.fund(await platform.internalAccount(all[2] ?? '', 'EUR'), 77_700n);
  const { webhookEndpoints } = await platform.ask('{ webhookEndpoints(first: 1) { edges { node { id } } } }');
  await platform.act('sendTestWebhook', { endpointId: webhookEndpoints.edges[0].node.id }, '');
  await createEndpoint(platform, { url: 'http://127.0.0.1:9/off', eventTypes: ['TEST'] });
}

type Permissions = readonly ('VIEW' | 'TRANSACT' | 'APPROVE' | 'MANAGE')[];

async function callersOf(
  url: string,
  platform: 0 | 1,
  server: TestPlatform,
  { payers, all }: Customers,
  payments: readonly object[],
): Promise<Caller[]> {
  const platformId = server.platformId;
  const callers: Caller[] = [];
  const add = (name: string, authorization: string, tokenId?: string) =>
    callers.push({
      ...{ name: `platform ${platform + 1}, ${name}`, authorization, platformId, platform },
      ...(tokenId && { tokenId }),
    });
  add('all permissions', server.authorization);
  const all3: readonly Permissions[] = [['VIEW'], ['TRANSACT'], ['MANAGE', 'VIEW']];
  for (const permissions of platform === 0 ? all3 : all3.slice(0, 1)) {
    const idempotencyKey = permissions.length > 1 ? 'a-token' : undefined;
    const input = { name: permissions.join(), permissions, idempotencyKey };
    const made = await server.act('createApiToken', input, 'secret apiToken { clientId }');
    add(permissions.join(), basicAuthorization({ clientId: made.apiToken.clientId, secret: made.secret }));
  }
  await server.act('revokeApiToken', { tokenId: (await server.serverOf('VIEW')).tokenId }, 'revokedId');

  const addApp = async (name: string, input: object) => {
    const app = await server.at(url).appOf({ permissions: ['VIEW'], expiresInSeconds: 86_400, ...input });
    add(name, app.authorization, app.tokenId);
    return app;
  };
  // The last customer is deleted and has no tokens.
  const customers = platform === 0 ? all.slice(0, -1) : all.slice(0, 2);
  for (const [at, customerId] of customers.entries()) {
    const app = await addApp(`app of customer ${at}`, {
      customerId,
      ...(at % 2 === 0 && { permissions: ['VIEW', 'TRANSACT'] }),
      ...(at === 0 && { idempotencyKey: 'an-app', grants: ['LOOK_UP_RECEIVERS'] }),
    });
    if (at > 0) continue;
    await app.act('sandboxFundAccount', { accountId: payers[0].usd, amount: 5, idempotencyKey: 'by-the-app' });
  }
  for (const binding of platform === 0 ? payments : payments.slice(0, 2)) {
    await addApp(`app of ${Object.values(binding)}`, binding);
  }
  return callers;
}

/** Freezes a customer and some accounts, revokes a client token, and has an endpoint disabled by a 410 response. */
async function endSome({ gateway }: TestGateway, platform: TestPlatform, { all }: Customers): Promise<void> {
  const [, , business = '', person = ''] = all;
  const freezing = { reason: 'under investigation', by: 'Ada', frozen: true };
  const { database } = gateway.payments;
  const frozen = [await freezeCustomer(database, person, freezing)];
  for (const kind of ['INTERNAL', 'EXTERNAL'])
    for (const id of await platform.idsIn('accounts', { kind, customerId: business }))
      frozen.push(await freezeAccount(database, id, freezing));
  if (!frozen.every(({ changed }) => changed)) throw new Error(JSON.stringify(frozen));

  const documents = [await registered(platform)];
  const { tokenId } = await platform.mint({ customerId: business, permissions: ['VIEW'], documents });
  await platform.act('revokeClientToken', { tokenId }, 'revokedId');

  const gone = await startReceiver(answer(410));
  const { id } = await createEndpoint(platform, { url: gone.url, eventTypes: ['TEST'] });
  await platform.act('sendTestWebhook', { endpointId: id }, '');
  await endpointUntil(platform, id, ({ disabledAt }) => disabledAt !== null);
  await gone.stop();
}

/** Registers a document, and returns its hash. */
async function registered(platform: TestPlatform): Promise<string> {
  const text = 'query Viewer { viewer { platformId } }';
  const id = hash('sha256', text);
  const response = await platform.post({ [id]: text }, {}, `${base}/trusted-documents`);
  if (!response.ok) throw new Error(await response.text());
  return id;
}

/**
 * Sets policies for a customer (who then pays), the customer's app, an API token and, last, the platform. The platform
 * makes no payments after that.
 */
async function limitSome(platform: TestPlatform, { payers }: Customers, callers: readonly Caller[]): Promise<void> {
  const [payer] = payers;
  const subjectId = callers.find(({ tokenId }) => tokenId)?.tokenId;
  const periods = ['PAYMENT', 'DAY', 'MONTH', 'LAST_24_HOURS', 'LAST_30_DAYS'];
  const limits = [
    ...periods.map((period) => ({ period, currency: 'USD', amount: { units: 1_000_000 } })),
    ...periods.slice(1).map((period) => ({ period, payments: 9 })),
    { period: 'DAY', currency: 'EUR', amount: { units: 1 } },
  ];
  await platform.act('setPolicy', { subjectId: payer.customerId, limits, timeZone: 'Asia/Tokyo' }, '');
  for (const amount of [30, 40]) await platform.pay(payer, amount);
  await platform.act('setPolicy', { subjectId, limits: [{ period: 'DAY', payments: 3 }] }, '');
  const limited = {
    name: 'limited',
    permissions: ['VIEW'],
    addresses: ['10.0.0.0/8'],
    documents: [await registered(platform)],
    expiresAt: '2100-01-01T00:00:00Z',
  };
  const { apiToken } = await platform.act('createApiToken', limited, 'apiToken { id }');
  await platform.act('rotateApiToken', { tokenId: apiToken.id, overlapHours: 720 }, '');
  await platform.act('setPolicy', { subjectId: apiToken.id }, '');
  await platform.act('setPolicy', {
    ...{ subjectId: `Platform:${platform.platformId}`, kinds: ['QUOTE', 'TRANSFER_IN'] },
    ...{ hoursFrom: '08:30', hoursTo: '24:00', receiverUmaAddresses: ['$ada@example.com'] },
    ...{ receiverAccountIds: [payer.outsideUsd], receiverCountries: ['DE', 'US'], releaseOn: ['REFUNDED', 'FAILED'] },
    approval: { above: [{ currency: 'USD', amount: { units: 5 } }], newReceivers: true },
  });
}

/** Waits until every event has reached the feed and the webhooks, and no work is due soon. */
async function untilQuiet({ gateway }: TestGateway): Promise<void> {
  const { pool } = gateway.payments.database;
  for (;;) {
    const { rows } = await pool.query<{ busy: boolean }>(
      `select exists (select from outbox)
         or exists (select from rail_order where due_at < clock_timestamp() + interval '1 minute')
         or exists (select from account_check where due_at < clock_timestamp() + interval '1 minute')
         or exists (select from webhook_endpoint e join feed_head h on h.platform_id = e.platform_id
                    where e.position < h.sequence and e.disabled_at is null)
         as busy`,
    );
    if (rows[0]?.busy === false) return;
    await new Promise(setImmediate);
  }
}
