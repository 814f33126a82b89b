import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'vitest';
import { anyMetadata, type Call, entriesOf, madeOnBoth, results } from '../setup/both-api-calls.ts';
import { testGateway } from '../setup/gateway.ts';
import { restClient, restScene } from '../setup/rest.ts';

const quotes: string[] = [];

// Nothing settles during the test, so that both APIs show the same state.
const t = await testGateway({ SANDBOX_PACE_MS: 3_600_000 });
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 100_000);
const mine = (await rest.ask('GET', '/platform/internal-accounts?currency=USD')).data[0];

const unknown = 'InternalAccount:01a1fc11-db75-7eac-9cd6-93f3db60e56b';
const amounts = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 20, max: 5_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 9_000_000_000_000_001, 500_000) },
);
const memo = fc.option(fc.constantFrom('rent', 'Überweisung €', 'a "quoted" memo'), { nil: undefined });

/** Returns whether all keys of the metadata are valid. */
const isSound = (metadata: object | undefined) => !Object.keys(metadata ?? {}).some((key) => key.startsWith('_'));

const quoteCall = fc
  .record({
    // Only one fault at a time, because it is not specified which of several faults is reported first.
    ends: fc.constantFrom('good', 'platform', 'funded', 'unknown', 'outside', 'self'),
    side: fc.constantFrom('SENDING', 'RECEIVING'),
    amount: amounts,
    immediatelyExecute: fc.boolean(),
    description: memo,
    metadata: anyMetadata,
  })
  .filter(({ ends, amount, metadata }) => {
    const wrong = [!isSound(metadata), ['unknown', 'outside', 'self'].includes(ends), amount <= 0 || amount >= 500_000];
    return wrong.filter(Boolean).length <= 1 && (isSound(metadata) || ends === 'good');
  })
  .map(({ ends, side, amount, immediatelyExecute, description, metadata }): (() => Call) => () => {
    const { id: usd } = scene.usd;
    const from = { good: usd, platform: mine.id, unknown, outside: scene.outsideUsd.id, self: usd, funded: '' }[ends];
    const to = ends === 'self' ? scene.usd.id : scene.outsideEur.id;
    const funded = ends === 'funded';
    const rest = {
      lockedCurrencySide: side,
      lockedCurrencyAmount: amount,
      immediatelyExecute: immediatelyExecute && !funded,
      description,
    };
    const funding = { customerId: scene.customer.id, currency: 'USD' };
    return {
      rest: {
        path: '/quotes',
        body: {
          ...rest,
          metadata,
          source: funded ? { sourceType: 'REALTIME_FUNDING', ...funding } : { sourceType: 'ACCOUNT', accountId: from },
          destination: { destinationType: 'ACCOUNT', accountId: to },
        },
      },
      mutation: 'createQuote',
      input: {
        ...rest,
        metadata: entriesOf(metadata),
        source: funded ? { realtimeFunding: funding } : { account: { accountId: from } },
        destination: { account: { accountId: to } },
      },
      result: results.quote,
    };
  });

const onQuoteCall = fc
  .record({ position: fc.nat({ max: 20 }), act: fc.constantFrom('execute' as const, 'cancel' as const) })
  .map(({ position, act }): (() => Call) => () => {
    const quoteId = quotes[position] ?? 'Quote:x';
    return {
      rest: { path: `/quotes/${quoteId}/${act}` },
      mutation: `${act}Quote`,
      input: { quoteId },
      result: results.quote,
    };
  });

const transferCall = fc
  .record({
    way: fc.constantFrom('out', 'in', 'inside', 'itself', 'unknown', 'mixed'),
    amount: amounts,
    description: memo,
    metadata: anyMetadata.filter(isSound),
  })
  .filter(({ way, amount }) => ['out', 'in', 'inside'].includes(way) || (amount > 0 && amount < 500_000))
  .map(({ way, amount, description, metadata }): (() => Call) => () => {
    const into = way === 'in';
    const sourceAccountId = way === 'unknown' ? unknown : into ? scene.outsideUsd.id : scene.usd.id;
    const inside = way === 'inside' || way === 'itself';
    const destinations = { in: scene.usd.id, mixed: scene.outsideEur.id, inside: mine.id, itself: scene.usd.id };
    const destinationAccountId = { ...destinations, out: scene.outsideUsd.id, unknown: scene.outsideUsd.id }[way];
    return {
      rest: {
        path: into ? '/transfer-in' : inside ? '/transfer-internal' : '/transfer-out',
        body: {
          source: { accountId: sourceAccountId },
          destination: { accountId: destinationAccountId },
          amount,
          description,
          metadata,
        },
      },
      mutation: into ? 'transferIn' : inside ? 'transferInternal' : 'transferOut',
      input: {
        sourceAccountId,
        destinationAccountId,
        amount: String(amount),
        description,
        metadata: entriesOf(metadata),
      },
      result: results.transaction,
    };
  });

const fundCall = fc
  .record({ account: fc.constantFrom('usd', 'eur', 'outside', 'unknown'), amount: fc.integer({ min: 1, max: 500 }) })
  .map(({ account, amount }): (() => Call) => () => {
    const accountId = { usd: scene.usd.id, eur: scene.eur.id, outside: scene.outsideUsd.id, unknown }[account];
    return {
      rest: { path: `/sandbox/internal-accounts/${accountId}/fund`, body: { amount } },
      mutation: 'sandboxFundAccount',
      input: { accountId, amount },
      result: results.internalAccount,
    };
  });

const customerCall = fc
  .record({
    business: fc.boolean(),
    name: fc.constantFrom('Ada Lovelace', 'Ada Lovelace 002', ' '),
    nationality: fc.constantFrom('GB', undefined),
    metadata: anyMetadata,
  })
  .filter(({ name, metadata }) => isSound(metadata) || name !== ' ')
  .map(({ business, name, nationality, metadata }): (() => Call) => () => {
    const platformCustomerId = `both-apis-${randomUUID()}`;
    const address = { line1: '1 High Street', city: 'London', postalCode: 'N1', country: 'GB' };
    const owner = { fullName: 'Ada Lovelace', individualType: 'DIRECTOR', address };
    const beneficialOwners = [{ ...owner, percentageOwnership: 12.5 }];
    const person = { fullName: name, birthDate: '1985-12-10', nationality, address };
    const company = { legalName: name, taxId: 'GB123' };
    return {
      rest: {
        path: '/customers',
        body: business
          ? { customerType: 'BUSINESS', platformCustomerId, businessInfo: company, address, beneficialOwners, metadata }
          : { customerType: 'INDIVIDUAL', platformCustomerId, ...person, metadata },
      },
      mutation: 'createCustomer',
      input: {
        platformCustomerId,
        metadata: entriesOf(metadata),
        details: business
          ? { business: { ...company, address, beneficialOwners: [{ ...owner, percentageOwnership: '12.5' }] } }
          : { individual: person },
      },
      result: results.customer,
    };
  });

const anyCall = fc.oneof(quoteCall, onQuoteCall, onQuoteCall, transferCall, fundCall, customerCall);

test('a call has the same effect and the same outcome in both APIs, field by field', async () => {
  await fc.assert(
    fc.asyncProperty(anyCall, fc.boolean(), async (make, restFirst) => {
      const call = make();
      const outcome = await madeOnBoth({ platform: t.platform, rest }, call, restFirst);
      if ('record' in outcome && call.mutation === 'createQuote') quotes.push(outcome.record.quoteId);
    }),
    { numRuns: 120 },
  );
});
