import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { testConfigEndpoint } from '../../src/api/webhooks/endpoints/config-endpoint.ts';
import {
  createEndpoint,
  deleteEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../../src/api/webhooks/endpoints/endpoints.ts';
import { replay, resend } from '../../src/api/webhooks/endpoints/replay.ts';
import { sendTest } from '../../src/api/webhooks/endpoints/test-event.ts';
import { openWebhooks } from '../../src/api/webhooks/webhooks.ts';
import { Refusal } from '../../src/core/refusal.ts';
import type { Bound, Caller } from '../../src/domain/access/caller.ts';
import { type Operation, operations } from '../../src/domain/access/operations.ts';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { ClientTokens } from '../../src/domain/access/tokens/client-tokens.ts';
import { createClientToken, issueApiToken, rotateApiToken } from '../../src/domain/access/tokens/issue-tokens.ts';
import { revokeApiToken, revokeClientToken } from '../../src/domain/access/tokens/revoke-tokens.ts';
import { deleteExternalAccount, updateExternalAccount } from '../../src/domain/accounts/external-account-changes.ts';
import { createExternalAccount } from '../../src/domain/accounts/external-accounts.ts';
import { approveTransaction, rejectTransaction } from '../../src/domain/approvals/approvals.ts';
import { deleteCustomer, updateCustomer } from '../../src/domain/customers/customer-changes.ts';
import { createCustomer } from '../../src/domain/customers/customers.ts';
import { feedCursor, feedStart } from '../../src/domain/events/cursor.ts';
import { updatePlatform } from '../../src/domain/platforms/platforms.ts';
import { deletePolicy, setPolicy } from '../../src/domain/policies/policies.ts';
import { cancelQuote } from '../../src/domain/quotes/cancel-quote.ts';
import { executeQuote } from '../../src/domain/quotes/execute-quote.ts';
import { createQuote } from '../../src/domain/quotes/quotes.ts';
import { lookUpReceiver, partiesOfLookup } from '../../src/domain/receivers/lookups.ts';
import { fundAccount, sandboxSend } from '../../src/domain/sandbox/sandbox.ts';
import { sandboxReceiveUma } from '../../src/domain/sandbox/sandbox-receive.ts';
import { setExternalAccountStatus } from '../../src/domain/sandbox/set-account-status.ts';
import { setKycStatus } from '../../src/domain/sandbox/set-kyc-status.ts';
import { transferIn, transferInternal, transferOut } from '../../src/domain/transfers/transfers.ts';
import { Permission } from '../../src/infra/database/generated/client/client.ts';
import { act, between, fundedIn, quote, sender, umaAddressOf } from '../setup/acts.ts';
import { uuidIn } from '../setup/connections.ts';
import { type Data, startTestGateway } from '../setup/gateway.ts';
import { makeScene, newCustomer, type Scene } from '../setup/scene.ts';
import { endpointUntil } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';

/**
 * An API without any checks: it passes everything that it gets to the commands. Each command is called for callers who
 * may not see the objects that they name. The checks of the real APIs (test/access/scope.test.ts) do not help here.
 */

/** The ids of a customer's objects, and of those that its platform has created for it. */
interface Things extends Scene {
  readonly umaAddress: string;
  /** A customer who holds no money. */
  readonly emptyId: string;
  readonly quoteId: string;
  readonly transactionId: string;
  readonly fundedQuoteId: string;
  readonly incomingId: string;
  readonly anotherIncomingId: string;
  readonly lookupId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly url: string;
  readonly apiTokenId: string;
  readonly clientTokenId: string;
}

const SECRET_KEY = randomBytes(32);
const t = await startTestGateway({ SECRET_KEY, PAYMENT_APPROVAL_MS: 60_000 });
const receivers = [await startReceiver(), await startReceiver(), await startReceiver()] as const;
const payments = t.gateway.payments;
const webhooks = openWebhooks(payments, { SECRET_KEY, WEBHOOK_TIME_SCALE: 1, ALLOW_UNSAFE: ['loopback-webhooks'] });
const clientTokens = new ClientTokens(payments.database, 'a key that only tests use, for nothing else');
const strangerId = (await t.newPlatform('stranger')).platformId;
const [victim, bystander] = [await thingsOf(receivers[0].url), await thingsOf(receivers[1].url)];
await settled();
afterAll(async () => {
  await t.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

/**
 * Waits until everything is idle: each incoming payment awaits its approval, each event has its number, and each test
 * of an endpoint has arrived.
 */
async function settled(): Promise<void> {
  const waiting = async () =>
    (
      await payments.database.pool.query(
        `select sequence::text from event where type = 'TEST' and not exists (
           select from webhook_delivery where event_sequence = sequence and status = 'DELIVERED')
         union all select event_id::text from outbox
         union all select id::text from transaction where status = 'CREATED'`,
      )
    ).rowCount;
  while ((await waiting()) !== 0) await t.gateway.feed.waitForChange(50);
  // However slow the machine, no payment times out between two reads of the state.
  await payments.database.pool.query("update rail_order set due_at = due_at + interval '1 hour'");
}

async function thingsOf(url: string): Promise<Things> {
  const { platform } = t;
  const scene = await makeScene(platform);
  const umaAddress = await umaAddressOf(platform, scene.customerId);
  const ordinary = await quote(platform, between(scene.usd, scene.outsideEur, 10_000));
  const funded = await quote(platform, fundedIn('USDC', scene, 10_000_000));
  const receive = { receiver: { umaAddress }, currency: 'USD', amount: 100 };
  const incoming = async () =>
    (
      await act(
        platform,
        'sandboxReceiveUma',
        { senderUmaAddress: '$sender@elsewhere.test', ...receive },
        'transaction { id }',
      )
    ).transaction.id;
  const lookup = { umaAddress: '$success.usd@sandbox.uma.money', sender: { customerId: scene.customerId } };
  const endpoint = { url, eventTypes: ['TEST'] };
  const ofApi = { name: 'reader', permissions: ['VIEW'] };
  const endpointId = (await act(platform, 'createWebhookEndpoint', endpoint, 'endpoint { id }')).endpoint.id;
  const { deliveries } = await endpointUntil(platform, endpointId, (one) => one.deliveries.length > 0);
  return {
    ...scene,
    umaAddress,
    emptyId: await newCustomer(platform),
    quoteId: ordinary.id,
    transactionId: ordinary.transaction.id,
    fundedQuoteId: funded.id,
    incomingId: await incoming(),
    anotherIncomingId: await incoming(),
    lookupId: (await act(platform, 'lookUpReceiver', lookup, 'lookup { id }')).lookup.id,
    url,
    endpointId,
    deliveryId: deliveries[0].id,
    apiTokenId: (await act(platform, 'createApiToken', ofApi, 'apiToken { id }')).apiToken.id,
    clientTokenId: (await act(platform, 'createClientToken', { boundTo: { customerId: scene.customerId } }, 'tokenId'))
      .tokenId,
  };
}

/** Calls a command as `caller`, with objects of `theirs` and, if it takes two, one of its `own`. */
type Attempt = (caller: Caller, theirs: Things, own: Things) => Promise<unknown>;

const unlimited = { limits: [], timeZone: 'UTC', releaseOn: [] } as const;
const minted = { permissions: ['VIEW'], expiresInSeconds: 60 } as const;
const details = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' } as const;
const quoted = { lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 100_000n, immediatelyExecute: true } as const;
const usAccount = () => ({
  currency: 'USD',
  accountType: 'US_ACCOUNT' as const,
  details: {
    // The suffix means nothing to the sandbox, which would refuse others.
    accountNumber: `${randomBytes(4).readUInt32BE()}000`,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
  },
  beneficiary: { beneficiaryType: 'INDIVIDUAL' as const, fullName: 'Ada Lovelace' },
  defaultUmaDepositAccount: false,
});
const receiving = { receivingCurrencyCode: 'USD', receivingCurrencyAmount: 100n };

/** Every way to name an object in each operation. A missing operation is a type error. */
const attempts: Readonly<Record<Operation, readonly Attempt[]>> = {
  createCustomer: [(by) => createCustomer(payments, by, { platformCustomerId: 'made-by-accident', details })],
  createApiToken: [(by) => issueApiToken(payments.database, by, { name: 'made by accident', permissions: ['VIEW'] })],
  createWebhookEndpoint: [(by) => createEndpoint(webhooks, by, { url: 'http://127.0.0.1:11/hook' }, null)],
  updatePlatform: [(by) => updatePlatform(payments, by, { currencies: ['USD'] })],
  updateCustomer: [(by, { customerId }) => updateCustomer(payments, by, { customerId, details })],
  createExternalAccount: [(by, { customerId }) => createExternalAccount(payments, by, { ...usAccount(), customerId })],
  createQuote: [
    (by, theirs, own) =>
      createQuote(payments, by, {
        ...quoted,
        source: { kind: 'ACCOUNT', accountId: theirs.usd },
        destination: { kind: 'ACCOUNT', accountId: own.outsideEur },
      }),
    (by, theirs, own) =>
      createQuote(payments, by, {
        ...quoted,
        source: { kind: 'ACCOUNT', accountId: own.usd },
        destination: { kind: 'ACCOUNT', accountId: theirs.outsideEur },
      }),
    (by, theirs, own) =>
      createQuote(payments, by, {
        ...quoted,
        source: { kind: 'ACCOUNT', accountId: own.usd },
        destination: { kind: 'ACCOUNT', accountId: theirs.eur },
      }),
    (by, theirs, own) =>
      createQuote(payments, by, {
        ...quoted,
        immediatelyExecute: false,
        source: { kind: 'REALTIME_FUNDING', customerId: theirs.customerId, currency: 'USDC' },
        destination: { kind: 'ACCOUNT', accountId: own.outsideEur },
      }),
    (by, theirs, own) =>
      createQuote(payments, by, {
        ...quoted,
        source: { kind: 'ACCOUNT', accountId: own.usd },
        destination: { kind: 'UMA_ADDRESS', umaAddress: '$success.usd@sandbox.uma.money' },
        lookupId: theirs.lookupId,
        senderCustomerInfo: sender,
      }),
    // What REST reads for a quote that leaves its parties to the lookup.
    (by, { lookupId }) => partiesOfLookup(payments, by, lookupId, 'USD'),
  ],
  executeQuote: [(by, { quoteId }) => executeQuote(payments, by, { quoteId })],
  cancelQuote: [(by, { fundedQuoteId }) => cancelQuote(payments, by, { quoteId: fundedQuoteId })],
  transferOut: [
    (by, theirs, own) =>
      transferOut(payments, by, { sourceAccountId: theirs.usd, destinationAccountId: own.outsideUsd, amount: 100n }),
    (by, theirs, own) =>
      transferOut(payments, by, { sourceAccountId: own.usd, destinationAccountId: theirs.outsideUsd, amount: 100n }),
  ],
  transferIn: [
    (by, theirs, own) =>
      transferIn(payments, by, { sourceAccountId: theirs.outsideUsd, destinationAccountId: own.usd, amount: 100n }),
    (by, theirs, own) =>
      transferIn(payments, by, { sourceAccountId: own.outsideUsd, destinationAccountId: theirs.usd, amount: 100n }),
  ],
  transferInternal: [
    (by, theirs, own) =>
      transferInternal(payments, by, { sourceAccountId: theirs.usd, destinationAccountId: own.usd, amount: 100n }),
    (by, theirs, own) =>
      transferInternal(payments, by, { sourceAccountId: own.usd, destinationAccountId: theirs.usd, amount: 100n }),
  ],
  createClientToken: [
    (by, { customerId }) => createClientToken(payments.database, clientTokens, by, { ...minted, customerId }),
    (by, { quoteId }) => createClientToken(payments.database, clientTokens, by, { ...minted, quoteId }),
    (by, { transactionId }) => createClientToken(payments.database, clientTokens, by, { ...minted, transactionId }),
  ],
  lookUpReceiver: [
    (by, { customerId }) => lookUpReceiver(payments, by, { umaAddress: '$success.usd@sandbox.uma.money', customerId }),
    (by, { umaAddress: senderUmaAddress }) =>
      lookUpReceiver(payments, by, { umaAddress: '$success.usd@sandbox.uma.money', senderUmaAddress }),
  ],
  approveTransaction: [(by, { incomingId: transactionId }) => approveTransaction(payments, by, { transactionId })],
  rejectTransaction: [(by, { anotherIncomingId: transactionId }) => rejectTransaction(payments, by, { transactionId })],
  sandboxReceiveUma: [
    (by, { customerId }) =>
      sandboxReceiveUma(payments, by, { senderUmaAddress: '$sender@elsewhere.test', customerId, ...receiving }),
    (by, { umaAddress: receiverUmaAddress }) =>
      sandboxReceiveUma(payments, by, { senderUmaAddress: '$sender@elsewhere.test', receiverUmaAddress, ...receiving }),
  ],
  sandboxSetKycStatus: [
    (by, { customerId }) => setKycStatus(payments, by, { customerId, kycStatus: 'MANUALLY_APPROVED' }),
  ],
  sandboxFundAccount: [(by, { usd }) => fundAccount(payments, by, { accountId: usd, amount: 100n })],
  sandboxSetExternalAccountStatus: [
    (by, { outsideUsd }) =>
      setExternalAccountStatus(payments, by, { accountId: outsideUsd, beneficiaryVerificationStatus: 'MATCHED' }),
  ],
  sandboxSend: [(by, { fundedQuoteId: quoteId }) => sandboxSend(payments, by, { quoteId, currencyCode: 'USDC' })],
  updateWebhookEndpoint: [
    (by, { endpointId }) => updateEndpoint(webhooks, by, { endpointId, description: 'changed' }, null),
  ],
  rotateWebhookSecret: [(by, { endpointId }) => rotateSecret(webhooks, by, { endpointId }, null)],
  sendTestWebhook: [
    (by, { endpointId }) => sendTest(webhooks, by, { endpointId }, null),
    (by, { url }) => testConfigEndpoint(webhooks, by, { url }, undefined),
  ],
  replayWebhookEvents: [
    (by, { endpointId }) =>
      replay(webhooks, by, { endpointId, after: feedCursor(payments.cursors, by.platformId, feedStart) }, null),
  ],
  resendWebhookDelivery: [(by, { deliveryId }) => resend(webhooks, by, { deliveryId }, null)],
  setPolicy: [
    (by, { customerId: subjectId }) => setPolicy(payments.database, by, { ...unlimited, subjectId }),
    (by, { apiTokenId: subjectId }) => setPolicy(payments.database, by, { ...unlimited, subjectId }),
    (by, { clientTokenId: subjectId }) => setPolicy(payments.database, by, { ...unlimited, subjectId }),
    (by, { outsideUsd }, { customerId: subjectId }) =>
      setPolicy(payments.database, by, { ...unlimited, subjectId, receiverAccountIds: [outsideUsd] }),
  ],
  deletePolicy: [(by, { customerId: subjectId }) => deletePolicy(payments.database, by, { subjectId })],
  // Attempts that end an object come last, since the last call proves that the others were valid.
  deleteWebhookEndpoint: [(by, { endpointId }) => deleteEndpoint(webhooks, by, { endpointId }, null)],
  updateExternalAccount: [
    (by, { outsideUsd: accountId }) => updateExternalAccount(payments, by, { accountId, platformAccountId: 'mine' }),
  ],
  rotateApiToken: [
    (by, { apiTokenId: tokenId }) => rotateApiToken(payments.database, by, { tokenId, overlapHours: 720 }),
  ],
  revokeApiToken: [
    (by, { apiTokenId: tokenId }) => revokeApiToken(payments.database, by, { tokenId, revokeDescendants: true }),
    (by, { apiTokenId: tokenId }) => revokeApiToken(payments.database, by, { tokenId, revokeDescendants: false }),
  ],
  revokeClientToken: [(by, { clientTokenId }) => revokeClientToken(payments.database, by, { tokenId: clientTokenId })],
  deleteExternalAccount: [(by, { outsideUsd }) => deleteExternalAccount(payments, by, { accountId: outsideUsd })],
  deleteCustomer: [(by, { emptyId }) => deleteCustomer(payments, by, { customerId: emptyId })],
};

const names = Object.keys(attempts) as Operation[];
/** Operations that name no foreign object: only the permission protects them. */
const nameless: ReadonlySet<Operation> = new Set([
  'createCustomer',
  'createApiToken',
  'createWebhookEndpoint',
  'updatePlatform',
]);

/**
 * An app's token with more rights than any is minted with; or a server with a binding that no server has, so that no
 * rule for apps applies before the reads.
 */
function bound(kind: Caller['kind'], to: (own: Things) => Bound): () => Caller {
  return () => ({
    ...platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' }),
    kind,
    bound: to(bystander),
  });
}
const toCustomer = ({ customerId }: Things): Bound => ({ kind: 'CUSTOMER', customerId: uuidIn(customerId) });
const toPayment = ({ transactionId, quoteId }: Things): Bound => ({
  kind: 'PAYMENT',
  transactionId: uuidIn(transactionId),
  quoteId: uuidIn(quoteId),
});

const callers: Readonly<Record<string, () => Caller>> = {
  "another customer's app": bound('CLIENT', toCustomer),
  "another payment's app": bound('CLIENT', toPayment),
  'a server bound to another customer': bound('PLATFORM', toCustomer),
  'a server bound to another payment': bound('PLATFORM', toPayment),
  'another platform': () => platformItself({ platformId: strangerId, environment: 'SANDBOX' }),
};

/** Returns ids for the same objects as if they had never been created. */
function neverMade(things: Things): Things {
  const entries = Object.entries(things).map(([name, value]: [string, string]) => [
    name,
    name === 'url' ? 'http://127.0.0.1:12/hook' : value.replace(/[0-9a-f]{12}(?=$|@)/, '000000000000'),
  ]);
  return Object.fromEntries(entries) as Things;
}

/**
 * Returns the result of an attempt: the refusal, with the names of `theirs` instead of their values, or the fact that
 * there was none.
 */
async function outcomeOf(attempt: Promise<unknown>, theirs: Things): Promise<Data> {
  try {
    await attempt;
    return 'success';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, details: facts } = error;
    let text = JSON.stringify({ code, message, facts });
    for (const [name, value] of Object.entries(theirs)) text = text.replaceAll(value, name);
    return JSON.parse(text);
  }
}

/** Everything that a command could change. */
const watched = {
  api_token: 'platform_id, id, revoked_at',
  webhook_endpoint: 'platform_id, id, url, description, secret, event_types',
  // Every write gives a row a new xmin, even if the row looks unchanged.
  webhook_delivery: 'id, xmin::text',
  platform: 'id, currencies, uma_domain',
  ...Object.fromEntries(
    [
      'account',
      'client_token',
      'customer',
      'event',
      'idempotency_record',
      'journal',
      'lookup',
      'outbox',
      'posting',
      'quote',
      'rail_order',
      'transaction',
    ].map((table) => [table, `${table}.*`]),
  ),
};

async function state(): Promise<unknown> {
  const columns = Object.entries(watched).map(
    ([table, wanted]) =>
      `(select md5(string_agg(row::text, ',' order by row::text)) from (select ${wanted} from ${table}) as row) as ${table}`,
  );
  return (await payments.database.pool.query(`select ${columns.join(', ')}`)).rows[0];
}

test('every operation is covered', () => {
  expect([...names].sort()).toEqual(Object.keys(operations).sort());
});

describe.each(names)('%s', (name) => {
  test.each(Object.keys(callers))('does nothing for %s, to whom foreign objects are unknown', async (who) => {
    const caller = callers[who]?.();
    if (!caller) throw new Error(`nobody is ${who}`);
    const { permission, ...rule } = operations[name];
    const forbidden = caller.kind === 'CLIENT' && !('client' in rule);
    if (nameless.has(name) && !forbidden) return;
    const unknown = neverMade(victim);
    for (const attempt of attempts[name]) {
      const before = await state();
      const refusal = await outcomeOf(attempt(caller, victim, bystander), victim);
      expect(refusal.code).toMatch(forbidden ? /^FORBIDDEN$/ : /_NOT_(FOUND|SET)$/);
      expect(refusal).toEqual(await outcomeOf(attempt(caller, unknown, bystander), unknown));
      expect(await state()).toEqual(before);

      const needed: Permission[] = 'or' in rule ? [permission, rule.or] : [permission];
      for (const lacking of 'reads' in rule ? [needed, ['VIEW']] : [needed]) {
        const without = { ...caller, permissions: Object.values(Permission).filter((one) => !lacking.includes(one)) };
        expect(await outcomeOf(attempt(without, victim, bystander), victim)).toMatchObject({ code: 'FORBIDDEN' });
        expect(await state()).toEqual(before);
      }
    }
  });
});

test('each of these calls succeeds for the platform itself', async () => {
  const itself = platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' });
  const fresh = await thingsOf(receivers[2].url);
  await settled();
  const outcomes: Record<string, Data> = {};
  for (const name of names) {
    outcomes[name] = [];
    for (const attempt of attempts[name]) {
      outcomes[name].push(await outcomeOf(attempt(itself, fresh, bystander), fresh));
    }
  }
  expect(outcomes).toEqual(Object.fromEntries(names.map((name) => [name, attempts[name].map(() => 'success')])));
});
