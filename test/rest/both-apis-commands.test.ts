import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { composeIBAN } from 'ibantools';
import { expect, test } from 'vitest';
import { anyMetadata, type Call, entriesOf, madeOnBoth } from '../setup/both-api-calls.ts';
import { results } from '../setup/both-apis.ts';
import { testGateway } from '../setup/gateway.ts';
import { restClient, restQuote, restScene } from '../setup/rest.ts';

/** Commands on existing objects: incoming payments, deposits, customers, accounts, payments to UMA addresses. */

const umaAddress = '$success.usd@sandbox.uma.money';
const funded: string[] = [];
const customers: { readonly id: string; readonly business: boolean }[] = [];
const announced: string[] = [];
/** External accounts that this run has registered. */
const outside: string[] = [];

// Nothing settles or expires during the test, so that both APIs show the same state.
const t = await testGateway({ SANDBOX_PACE_MS: 3_600_000, PAYMENT_APPROVAL_MS: 3_600_000 });
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 1_000_000);
const path = `/receiver/${encodeURIComponent(umaAddress)}?customerId=${scene.customer.id}`;
const lookupId = (await rest.ask('GET', path)).id;
for (let made = 0; made < 12; made += 1) {
  const source = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
  const quote = restQuote('', scene.outsideEur.id, 1_000 + made, { source });
  funded.push((await rest.make('/quotes', quote)).quoteId);
  const business = made % 2 === 1;
  const body = business
    ? { customerType: 'BUSINESS', platformCustomerId: `b${made}`, businessInfo: { legalName: 'Acme' } }
    : { customerType: 'INDIVIDUAL', platformCustomerId: `i${made}`, fullName: 'Ada Lovelace' };
  customers.push({ id: (await rest.make('/customers', body)).id, business });
}

/** Builds a call from generated values only when the call is made, because it may need the ids of earlier records. */
const built =
  <Drawn>(build: (drawn: Drawn) => Call) =>
  (drawn: Drawn) =>
  () =>
    build(drawn);
const uuid = '01a1fc11-db75-7eac-9cd6-93f3db60e56b';

const sendCall = fc
  .record({
    position: fc.nat({ max: 13 }),
    currency: fc.constantFrom('USD', 'USD', 'EUR', 'XXX'),
    amount: fc.constantFrom(undefined, undefined, 1_003, 5),
  })
  .map(
    built(({ position, currency, amount }) => {
      const quoteId = funded[position] ?? `Quote:${uuid}`;
      return {
        rest: { path: '/sandbox/send', body: { quoteId, currencyCode: currency, currencyAmount: amount } },
        mutation: 'sandboxSend',
        input: { quoteId, currency, amount },
        result: results.transaction,
      };
    }),
  );

const receiveCall = fc
  .record({
    to: fc.constantFrom('customer', 'address', 'unknown'),
    currency: fc.constantFrom('USD', 'EUR', 'XXX'),
    amount: fc.integer({ min: 1, max: 5_000 }),
  })
  // Each call has at most one fault, because it is not specified which of several faults is reported first.
  .filter(({ to, currency }) => currency !== 'XXX' || to === 'customer')
  .map(
    built(({ to, currency, amount }) => {
      const [inRest, receiver] = {
        customer: [{ customerId: scene.customer.id }, { customerId: scene.customer.id }],
        address: [{ receiverUmaAddress: scene.customer.umaAddress }, { umaAddress: scene.customer.umaAddress }],
        unknown: [{ customerId: `Customer:${uuid}` }, { customerId: `Customer:${uuid}` }],
      }[to] as [object, object];
      const sent = { senderUmaAddress: '$sender@example.com' };
      return {
        rest: {
          path: '/sandbox/uma/receive',
          body: { ...sent, ...inRest, receivingCurrencyCode: currency, receivingCurrencyAmount: amount },
        },
        mutation: 'sandboxReceiveUma',
        input: { ...sent, receiver, currency, amount },
        result: results.transaction,
      };
    }),
  );

const decideCall = fc
  .record({
    position: fc.nat({ max: 30 }),
    approves: fc.boolean(),
    info: fc.constantFrom(undefined, { FULL_NAME: 'Grace Hopper' }, { 'full name': 'Grace Hopper' }),
    reason: fc.constantFrom(undefined, 'Not ours.', 'Not\u202eours.'),
  })
  .map(
    built(({ position, approves, info, reason }) => {
      const transactionId = announced[position] ?? `Transaction:${uuid}`;
      const act = approves ? 'approve' : 'reject';
      const receiverCustomerInfo = info && Object.entries(info).map(([name, value]) => ({ name, value }));
      return {
        rest: {
          path: `/transactions/${transactionId}/${act}`,
          body: approves ? { receiverCustomerInfo: info } : { reason },
        },
        mutation: `${act}Transaction`,
        input: { transactionId, ...(approves ? { receiverCustomerInfo } : { reason }) },
        result: results.transaction,
      };
    }),
  );

const customerCall = fc
  .record({
    position: fc.nat({ max: 12 }),
    act: fc.constantFrom('change', 'change', 'change', 'mistake'),
    name: fc.constantFrom('Ada Lovelace', 'Ada King 002', '\u200b', 'x'.repeat(201)),
    nationality: fc.constantFrom('GB', 'GB', 'GB', 'UK'),
    umaAddress: fc.constantFrom(undefined, 'taken', 'new', 'nobody'),
    metadata: anyMetadata,
  })
  .filter(({ name, nationality, metadata, umaAddress }) => {
    // REST validates strings and countries together with the shape of the body, before anything else.
    const isFormWrong = !name.startsWith('Ada') || nationality === 'UK';
    return [isFormWrong, '__proto' in (metadata ?? {}), umaAddress].filter(Boolean).length <= 1;
  })
  .map(
    built(({ position, act, name, nationality, umaAddress: address, metadata }) => {
      const { id: customerId, business } = customers[position] ?? { id: `Customer:${uuid}`, business: false };
      const asBusiness = act === 'mistake' ? !business : business;
      const address_ = { taken: scene.customer.umaAddress, new: `$${randomUUID()}@test.uma.money`, nobody: 'nobody' };
      const uma = { umaAddress: address && address_[address as keyof typeof address_] };
      const company = { legalName: name, taxId: 'GB123' };
      return {
        rest: {
          method: 'PATCH',
          path: `/customers/${customerId}`,
          body: asBusiness
            ? { customerType: 'BUSINESS', ...uma, businessInfo: company, metadata }
            : { customerType: 'INDIVIDUAL', ...uma, fullName: name, nationality, metadata },
        },
        mutation: 'updateCustomer',
        input: {
          customerId,
          ...uma,
          metadata: entriesOf(metadata),
          details: asBusiness ? { business: company } : { individual: { fullName: name, nationality } },
        },
        result: results.customer,
      };
    }),
  );

const endOrCheckCall = fc.record({ position: fc.nat({ max: 12 }), isEnd: fc.constantFrom(true, false, false) }).map(
  built(({ position, isEnd }) => {
    const customerId = customers[position]?.id ?? `Customer:${uuid}`;
    const [path, check] = [`/customers/${customerId}`, { kycStatus: 'MANUALLY_APPROVED' }];
    return {
      rest: isEnd ? { method: 'DELETE', path } : { path: `/sandbox${path}/kyc-status`, body: check },
      mutation: isEnd ? 'deleteCustomer' : 'sandboxSetKycStatus',
      input: { customerId, ...(!isEnd && check) },
      result: results.customer,
    };
  }),
);

let accountsMade = 0;

const accountCall = fc
  .record({
    number: fc.constantFrom('new', 'new', 'again', '1'),
    owner: fc.constantFrom('customer', 'platform', 'unknown'),
    kind: fc.constantFrom('US_ACCOUNT', 'IBAN'),
    currency: fc.constantFrom('right', 'right', 'MXN'),
    platformAccountId: fc.constantFrom(undefined, 'mine'),
    defaultUmaDepositAccount: fc.boolean(),
    fullName: fc.constantFrom('Grace Hopper', 'Grace Hopper', ' ', 'Grace\u00adHopper'),
  })
  .filter(({ number, owner, currency, fullName, defaultUmaDepositAccount }) => {
    const wrong = [
      fullName !== 'Grace Hopper',
      number === '1',
      owner === 'unknown',
      currency === 'MXN',
      owner === 'platform' && defaultUmaDepositAccount,
    ];
    return wrong.filter(Boolean).length <= 1;
  })
  .map(
    built(({ number, owner, kind, currency, fullName, ...more }) => {
      accountsMade += 1;
      const unique = number === 'new' ? String(500_000_000 + accountsMade) : '777777777';
      const us = kind === 'US_ACCOUNT';
      const info = us
        ? {
            accountNumber: number === '1' ? 'x' : `${unique}000`,
            routingNumber: '021000021',
            accountCategory: 'CHECKING',
          }
        : {
            iban: number === '1' ? 'DE1' : composeIBAN({ countryCode: 'DE', bban: `37040044${unique}0` }),
            swiftBic: 'COBADEFF',
          };
      const beneficiary = { fullName, birthDate: '1906-12-09', nationality: 'US' };
      const customerId = { customer: scene.customer.id, platform: undefined, unknown: `Customer:${uuid}` }[owner];
      const base = { currency: currency === 'right' ? (us ? 'USD' : 'EUR') : currency, customerId, ...more };
      return {
        rest: {
          path: '/customers/external-accounts',
          body: {
            ...base,
            accountInfo: { accountType: kind, ...info, beneficiary: { beneficiaryType: 'INDIVIDUAL', ...beneficiary } },
          },
        },
        mutation: 'createExternalAccount',
        input: {
          ...base,
          accountInfo: us ? { usAccount: info } : { iban: info },
          beneficiary: { individual: beneficiary },
        },
        result: results.externalAccount,
      };
    }),
  );

const umaQuoteCall = fc
  .record({
    form: fc.constantFrom('whole', 'workflow'),
    lookup: fc.constantFrom('good', 'good', 'good', 'unknown'),
    told: fc.constantFrom('all', 'all', 'nothing'),
    currency: fc.constantFrom('USD', 'USD', 'EUR'),
    side: fc.constantFrom('SENDING', 'RECEIVING'),
    amount: fc.constantFrom(700, 2_000, 0),
    immediatelyExecute: fc.boolean(),
  })
  .filter(({ form, lookup, told, currency, amount }) => {
    const wrong = [lookup === 'unknown', told === 'nothing', currency === 'EUR', amount === 0];
    // The short form never uses EUR, because it reads the lookup before it checks the currency.
    return wrong.filter(Boolean).length <= 1 && !(form === 'workflow' && currency === 'EUR');
  })
  .map(
    built(({ form, lookup, told, currency, side, amount, immediatelyExecute }) => {
      const sender = told === 'all' ? { FULL_NAME: 'Grace Hopper', BIRTH_DATE: '1906-12-09' } : {};
      const rest = {
        lookupId: lookup === 'good' ? lookupId : `Lookup:${uuid}`,
        lockedCurrencySide: side,
        lockedCurrencyAmount: amount,
        immediatelyExecute,
      };
      return {
        rest: {
          path: '/quotes',
          body:
            form === 'workflow'
              ? { ...rest, sendingCurrencyCode: 'USD', receivingCurrencyCode: currency, senderCustomerInfo: sender }
              : {
                  ...rest,
                  source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
                  destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency },
                  senderCustomerInfo: sender,
                },
        },
        mutation: 'createQuote',
        input: {
          ...rest,
          source: { account: { accountId: scene.usd.id } },
          destination: { uma: { umaAddress, currency } },
          senderCustomerInfo: Object.entries(sender).map(([name, value]) => ({ name, value })),
        },
        result: results.quote,
      };
    }),
  );

const accountChange = fc
  .record({
    position: fc.nat({ max: 8 }),
    act: fc.constantFrom('change', 'change', 'change', 'delete'),
    platformAccountId: fc.constantFrom(undefined, null, 'theirs'),
    defaultUmaDepositAccount: fc.constantFrom(undefined, true, false),
    metadata: anyMetadata,
  })
  .map(
    built(({ position, act, metadata, ...change }) => {
      const accountId = outside[position] ?? `ExternalAccount:${uuid}`;
      const path = `/customers/external-accounts/${accountId}`;
      const isDeletion = act === 'delete';
      return {
        rest: isDeletion ? { method: 'DELETE', path } : { method: 'PATCH', path, body: { ...change, metadata } },
        mutation: isDeletion ? 'deleteExternalAccount' : 'updateExternalAccount',
        input: isDeletion ? { accountId } : { accountId, ...change, metadata: entriesOf(metadata) },
        result: results.externalAccount,
      };
    }),
  );

const anyCall = fc.oneof(
  ...[accountChange, sendCall, receiveCall, decideCall, customerCall, endOrCheckCall, accountCall, umaQuoteCall],
);

test('commands on existing records have the same effect and outcome in both APIs, field by field', async () => {
  const done = new Set<string>();
  const wanted = [
    ...['createExternalAccount', 'createQuote', 'sandboxReceiveUma', 'sandboxSend'],
    ...['updateCustomer', 'updateExternalAccount'],
  ];
  const property = fc.asyncProperty(anyCall, fc.boolean(), async (make, restFirst) => {
    const call = make();
    const outcome = await madeOnBoth({ platform: t.platform, rest }, call, restFirst);
    if (!('record' in outcome)) return;
    done.add(call.mutation);
    if (call.mutation === 'createExternalAccount') outside.push(outcome.record.id);
    if (call.mutation === 'sandboxReceiveUma') announced.push(outcome.record.id);
  });
  // A command that is always refused proves little, so the runs continue until each command has succeeded once.
  for (let rounds = 0; rounds < 10 && !wanted.every((command) => done.has(command)); rounds += 1)
    await fc.assert(property, { numRuns: 300 });
  expect([...done]).toEqual(expect.arrayContaining(wanted));
});
