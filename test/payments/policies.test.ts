import { describe, expect, test } from 'vitest';
import { fundedIn, moving, usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { passDelay, passHours, timeZoneAhead } from '../setup/passing-time.ts';

// Policies limit what a token, a customer or the platform may pay. Amounts are in cents.

const t = await testGateway();
const { platform } = t;
const scene = await platform.makeScene(100_000_000n);
const stranger = await platform.makeScene(0n);

const facts =
  'limits { period amount { amount } usedAmount { amount } leftAmount { amount } usedPayments leftPayments renewsAt }';
const set = (subjectId: string, terms: object, by: TestPlatform = platform): Promise<Data> =>
  by.act('setPolicy', { subjectId, ...terms }, `policy { id subjectId ${facts} }`);
const remove = (subjectId: string): Promise<Data> => platform.succeed('deletePolicy', { subjectId }, 'deletedId');

/** A limit on an amount in USD. */
const usd = (period: string, amount: number) => ({ period, currency: 'USD', amount: { units: amount } });

const inEuros = (decimal: string) => ({ period: 'DAY', currency: 'EUR', amount: { decimal } });

/** Creates a server token that can pay and has its own policy. */
async function limited(terms: object, ...permissions: readonly string[]) {
  const server = await platform.serverOf('VIEW', 'TRANSACT', ...permissions);
  const { policy } = await set(server.tokenId, terms);
  return Object.assign(server, { policy });
}

const refusalFields = `... on LimitExceededError { rule subjectId freeAt
  limit { period usedAmount { amount } leftAmount { amount } payments usedPayments } }`;

/** Sends USD from a scene's internal account. Returns the id of the payment, or the refusal. */
async function send(by: TestPlatform, amount: number, rest: object = {}, from = scene): Promise<Data> {
  const input = moving(from.usd, from.outsideUsd, amount, rest);
  const result = await by.act('transferOut', input, 'transaction { id }', refusalFields);
  return result.transaction?.id ?? result;
}

/** Tries to pay each of the given amounts. Returns, for each, whether the payment was made. */
async function made(by: TestPlatform, ...amounts: readonly number[]): Promise<boolean[]> {
  const results: boolean[] = [];
  for (const amount of amounts) results.push(typeof (await send(by, amount)) === 'string');
  return results;
}

const left = async (by: TestPlatform): Promise<Data> =>
  (await by.ask(`{ viewer { policies { ${facts} } } }`)).viewer.policies[0].limits;

describe('a policy', () => {
  test('allows payments that fit; a refusal states the limit, the usage and when there will be room again', async () => {
    const me = await limited({ limits: [usd('DAY', 500)], timeZone: 'Asia/Tokyo' });
    expect(await made(me, 300)).toEqual([true]);
    const refused = await send(me, 201);
    const { rows } = await t.owner.query(
      `select (date_trunc('day', now() at time zone 'Asia/Tokyo') + interval '1 day') at time zone 'Asia/Tokyo' as midnight`,
    );
    const freeAt = rows[0].midnight.toISOString();
    expect(refused).toMatchObject({
      ...{ __typename: 'LimitExceededError', code: 'LIMIT_EXCEEDED', rule: 'LIMIT', subjectId: me.tokenId, freeAt },
      limit: { period: 'DAY', usedAmount: { amount: '300' }, leftAmount: { amount: '200' } },
    });
    expect(refused.message).toContain('at most 5.00 USD a day (3.00 USD used)');
    expect(await made(me, 200, 1)).toEqual([true, false]);
    expect(await left(me)).toMatchObject([{ leftAmount: { amount: '0' }, renewsAt: freeAt }]);
  });

  const outside = (by: TestPlatform, to: string) => by.act('transferOut', moving(scene.usd, to, 1));
  const uma = '$success.usd@sandbox.uma.money';
  const ways: Readonly<Record<string, (by: TestPlatform) => Promise<Data>>> = {
    TRANSFER_OUT: (by) => outside(by, scene.outsideUsd),
    TRANSFER_IN: (by) => by.act('transferIn', moving(scene.outsideUsd, scene.usd, 1)),
    TRANSFER_INTERNAL: async (by) => by.act('transferInternal', moving(scene.usd, await platform.ownAccount('USD'), 1)),
    QUOTE: (by) => by.quote(usdToEur(scene, { immediatelyExecute: true })),
    'a quote executed later': async (by) => by.execute((await by.quote(usdToEur(scene))).id),
    'a quote funded by a deposit': (by) => by.quote(fundedIn('USD', scene, 1_000)),
    'a quote to a UMA address': (by) => by.umaQuote(scene.usd, uma, { immediatelyExecute: true }),
    'to a stranger': (by) => outside(by, stranger.outsideUsd),
  };
  const quotes = ['QUOTE', 'a quote executed later', 'a quote funded by a deposit', 'a quote to a UMA address'];
  const toUsd = ['TRANSFER_OUT', 'to a stranger'];
  const all = Object.keys(ways);
  const says: Readonly<Record<string, RegExp>> = {
    kinds: /no payment of this kind$/,
    currencies: /no payment in this currency$/,
    'amounts of one payment': /at most 10.00 USD in one payment$/,
    'a single payment': /at most 1 payment a day \(1 payment used\)/,
    'the number of payments': /at most 3 payments a day \(3 payments used\)/,
  };
  test.each([
    ['kinds', { kinds: ['TRANSFER_OUT'] }, toUsd],
    ['kinds', { kinds: ['TRANSFER_IN', 'TRANSFER_INTERNAL'] }, ['TRANSFER_IN', 'TRANSFER_INTERNAL']],
    ['kinds', { kinds: ['QUOTE'] }, quotes],
    ['accounts', { receiverAccountIds: [scene.outsideUsd] }, ['TRANSFER_OUT']],
    ['accounts', { receiverAccountIds: [scene.usd] }, ['TRANSFER_IN']],
    ['countries', { receiverCountries: ['US'] }, toUsd],
    ['countries', { receiverCountries: ['DE', 'FR'] }, quotes.slice(0, 3)],
    ['UMA addresses', { receiverUmaAddresses: [uma.toUpperCase()] }, ['a quote to a UMA address']],
    ['lists', { receiverAccountIds: [scene.outsideUsd], receiverUmaAddresses: [uma] }, ['TRANSFER_OUT', quotes[3]]],
    ['currencies', { limits: [inEuros('1')] }, []],
    ['amounts of one payment', { limits: [usd('PAYMENT', 1_000)] }, all.filter((way) => way !== quotes[3])],
    ['a single payment', { limits: [{ period: 'DAY', payments: 1 }] }, all.slice(0, 1)],
    ['the number of payments', { limits: [{ period: 'DAY', payments: 3 }] }, all.slice(0, 3)],
  ])('allows exactly the payments that its terms on %s permit: %j', async (what, terms, allowed) => {
    const message = expect.stringMatching(says[what] ?? /no payment to this receiver$/);
    const me = await limited(terms);
    const did: string[] = [];
    for (const [name, way] of Object.entries(ways)) {
      const answer = await way(me);
      if (answer.code === undefined) did.push(name);
      else expect(answer).toMatchObject({ code: 'LIMIT_EXCEEDED', message });
    }
    expect(did).toEqual(allowed);
  });

  test('allows payments within its hours; a refusal states when the hours begin', async () => {
    const { rows } = await t.owner.query<{ time: string }>(
      `select to_char(now() + m * interval '1 minute', 'HH24:MI') as time from unnest(array[-2, 2, 4]) m order by m`,
    );
    const [before, soon, later] = rows.map(({ time }) => time);
    const refused = { rule: 'HOURS', limit: null, freeAt: expect.stringContaining(`T${soon}:00.000Z`) };
    // The second and third ranges span midnight, unless the test itself runs around midnight.
    for (const [hoursFrom, hoursTo, expected] of [
      [before, soon, /^Transaction:/],
      [later, soon, /^Transaction:/],
      [soon, before, refused],
      [soon, later, refused],
    ] as const) {
      const answer = await send(await limited({ hoursFrom, hoursTo }), 1);
      if (expected instanceof RegExp) expect(answer).toMatch(expected);
      else expect(answer).toMatchObject(expected);
    }
  });

  test('is checked for the token, its ancestors, the customer and the platform', async () => {
    const maker = await platform.serverOf('VIEW', 'TRANSACT', 'MANAGE');
    const server = await maker.serverOf('VIEW', 'TRANSACT');
    const app = await maker.payingApp({ customerId: scene.customerId });
    const bystander = await platform.serverOf('VIEW', 'TRANSACT');
    const subjects = {
      [server.tokenId]: [false, true, true],
      [app.tokenId]: [true, false, true],
      [maker.tokenId]: [false, false, true],
      [scene.customerId]: [false, false, false],
      [`Platform:${platform.platformId}`]: [false, false, false],
      [stranger.customerId]: [true, true, true],
    };
    for (const [subject, expected] of Object.entries(subjects)) {
      await set(subject, { limits: [usd('PAYMENT', 1)] });
      const did = await Promise.all([server, app, bystander].map((by) => made(by, 2)));
      expect([subject, ...did.flat()]).toEqual([subject, ...expected]);
      expect(await remove(subject)).toMatchObject({ deletedId: expect.stringMatching(/^Policy:/) });
    }
    expect(await remove(stranger.customerId)).toMatchObject({ deletedId: null });
  });

  test('counts every payment when several share a database transaction, even just after midnight', async () => {
    // The day began within the last hour in this time zone, so passHours moves the first payment into the previous day.
    const now = new Date();
    const ahead = (24 - now.getUTCHours()) % 24;
    const timeZone = timeZoneAhead(ahead > 14 ? ahead - 24 : ahead);
    const server = await limited({ limits: [usd('DAY', 100)], timeZone });
    expect(await made(server, 60)).toEqual([true]);
    await passHours(t, (now.getUTCMinutes() + 2) / 60);
    // Payments from one account never share a database transaction, so these come from several accounts.
    const scenes = await Promise.all(Array.from({ length: 8 }, () => platform.makeScene(1_000n)));
    const sent = await Promise.all([...scenes, ...scenes].map((from) => send(server, 10, {}, from)));
    expect(sent.filter((one) => typeof one === 'string')).toHaveLength(10);
    // If the policy remained, other tests that skip hours could move these payments into one day and exceed the limit.
    await remove(server.tokenId);
  });

  test('cannot be changed by a token that it limits, or by a descendant of such a token', async () => {
    const maker = await limited({ limits: [usd('DAY', 5)] }, 'MANAGE');
    const child = await maker.serverOf('VIEW', 'TRANSACT', 'MANAGE');
    const own = `Platform:${platform.platformId}`;
    for (const by of [maker, child]) {
      for (const subject of [maker.tokenId, child.tokenId, scene.customerId, own])
        expect(await set(subject, { limits: [] }, by)).toMatchObject({ code: 'FORBIDDEN' });
      expect(await by.act('deletePolicy', { subjectId: maker.tokenId })).toMatchObject({ code: 'FORBIDDEN' });
    }
    // Payments made with either token count against the policy.
    const counted = [...(await made(child, 3)), ...(await made(maker, 3, 2)), ...(await made(child, 1))];
    expect(counted).toEqual([true, false, true, false]);
    // Any other server token with MANAGE may change the policy, even if a platform-wide policy limits that token.
    await set(own, { limits: [usd('DAY', 100_000_000)] });
    expect(await set(maker.tokenId, { limits: [usd('DAY', 6)] })).toMatchObject({ __typename: 'SetPolicySuccess' });
    expect(await made(child, 1)).toEqual([true]);
    await remove(own);
  });

  test('is shown only to those who may see it: an app learns nothing about the usage of others', async () => {
    const app = await platform.payingApp({ customerId: scene.customerId });
    const blind = await platform.serverOf('TRANSACT');
    const own = `Platform:${platform.platformId}`;
    const message = 'a platform policy does not allow this payment now';
    const hidden = { rule: null, limit: null, freeAt: null, subjectId: null, message };
    const shown = { rule: 'LIMIT', limit: { usedAmount: { amount: '0' } } };
    const seen = async (by: TestPlatform) =>
      (await by.ask('{ viewer { policies { subjectId } } platform { policy { id } } }')) as Data;
    for (const [subject, what] of [
      [own, hidden],
      [scene.customerId, shown],
      [app.tokenId, shown],
    ] as const) {
      await set(subject, { limits: [usd('DAY', 1)] });
      expect(await send(app, 2)).toMatchObject(what);
      expect((await seen(app)).viewer.policies).toEqual(subject === own ? [] : [{ subjectId: subject }]);
      expect((await seen(app)).platform.policy).toBeNull();
      await remove(subject);
    }
    await set(own, { limits: [usd('DAY', 1)] });
    expect(await send(blind, 2)).toMatchObject(hidden);
    expect(await send(platform, 2)).toMatchObject({ ...shown, subjectId: own });
    await remove(own);
    const paid = await platform.quote(usdToEur(scene));
    const ofQuote = await platform.payingApp({ quoteId: paid.id });
    const reader = await platform.serverOf('VIEW');
    for (const [subject, isSeen] of [
      [scene.customerId, true],
      [app.tokenId, false],
    ] as const) {
      const { policy } = await set(subject, { limits: [usd('DAY', 1)] });
      expect(await ofQuote.fieldsOf('node', policy.id, 'id')).toBeNull();
      expect(await reader.fieldsOf('node', policy.id, 'id')).toEqual(isSeen ? { id: policy.id } : null);
      if (isSeen)
        expect(await ofQuote.act('executeQuote', { quoteId: paid.id })).toMatchObject({ message: hidden.message });
      await remove(subject);
    }
  });

  test('counts a repeated request once; a refused request does not use up its idempotency key', async () => {
    const me = await limited({ limits: [usd('DAY', 100)] });
    const once = () => send(me, 60, { idempotencyKey: 'policy-1' });
    expect(await once()).toBe(await once());
    expect(await left(me)).toMatchObject([{ usedAmount: { amount: '60' } }]);
    expect(await send(me, 60, { idempotencyKey: 'policy-2' })).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    const higher = (amount: object) =>
      platform.succeed(
        'setPolicy',
        { subjectId: me.tokenId, limits: [{ ...usd('DAY', 0), amount }], idempotencyKey: 'higher' },
        'replayed',
      );
    expect(await higher({ units: 200 })).toMatchObject({ replayed: false });
    expect(await higher({ decimal: '2.00' })).toMatchObject({ replayed: true });
    expect(await send(me, 60, { idempotencyKey: 'policy-2' })).toMatch(/^Transaction:/);
    expect(await left(me)).toMatchObject([{ usedAmount: { amount: '120' } }]);
  });

  test('counts a quote when it is executed, or when it is created if a deposit funds it', async () => {
    const me = await limited({ limits: [usd('DAY', 1_500)] });
    const later = await me.quote(usdToEur(scene));
    const funded = await me.quote(fundedIn('USD', scene, 1_000));
    expect(await me.execute(later.id)).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await me.succeed('cancelQuote', { quoteId: funded.id });
    expect(await me.execute(later.id)).toMatchObject({ __typename: 'ExecuteQuoteSuccess' });
    expect(await me.quote(fundedIn('USD', scene, 1_000))).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    // The deposit does not count a second time.
    const last = await me.quote(fundedIn('USD', scene, 500));
    await me.succeed('sandboxSend', { quoteId: last.id, currency: 'USD' });
    expect(await left(me)).toMatchObject([{ usedAmount: { amount: '1500' } }]);
  });

  test.each([
    [['FAILED'], '0', '100'],
    [['REFUNDED'], '100', '0'],
    [['FAILED', 'REFUNDED'], '0', '0'],
    [[], '100', '100'],
  ])('releases the usage of failed or returned payments as releaseOn says: %j', async (releaseOn, failed, returned) => {
    const used = async (scenario: object, status: string) => {
      const me = await limited({ limits: [usd('DAY', 100), { period: 'LAST_24_HOURS', payments: 1 }], releaseOn });
      const { id } = await me.pay(scene, 100, { sandboxScenario: scenario });
      if (status === 'FAILED') await platform.ended(id);
      else await passDelay(t, id);
      await platform.untilStatus(id, status);
      const [amount, count] = await left(me);
      expect(count.usedPayments).toBe(Number(amount.usedAmount.amount) / 100);
      return amount.usedAmount.amount;
    };
    expect(await used({ failureReason: 'OFFRAMP_FAILED' }, 'FAILED')).toBe(failed);
    expect(await used({ returnAfterMs: 3_600_000 }, 'REFUNDED')).toBe(returned);
  });
});

// policy-races.test.ts tests all periods against a model, at random times.
test('a payment stops counting when it leaves a rolling window, even while other payments are made', async () => {
  const me = await limited({ limits: [usd('LAST_24_HOURS', 100), { period: 'LAST_24_HOURS', payments: 3 }] });
  expect(await made(me, 60)).toEqual([true]);
  await passHours(t, 23.75);
  expect(await made(me, 40, 1)).toEqual([true, false]);
  await passHours(t, 0.5);
  expect(await left(me)).toMatchObject([{ usedAmount: { amount: '40' } }, { usedPayments: 1 }]);
  expect(await made(me, 61, 60)).toEqual([false, true]);
});

test('a calendar day begins at midnight in the given time zone, even when the clocks change', async () => {
  const start = async (period: string, zone: string, at: string | Date) => {
    const { rows } = await t.owner.query('select window_start($1, $2, $3) as start', [period, zone, at]);
    return rows[0].start.toISOString();
  };
  const end = async (period: string, zone: string, at: string): Promise<Date> => {
    const terms = { limit_periods: [period], limit_currencies: [''], time_zone: zone };
    const text = 'select frees_at(jsonb_populate_record(null::policy, $1), 1, $2, 1) as end';
    return (await t.owner.query(text, [terms, at])).rows[0].end;
  };
  for (const [period, zone, at, from] of [
    ['DAY', 'Europe/Berlin', '2026-03-29T21:59:59.999Z', '2026-03-28T23:00:00.000Z'],
    ['DAY', 'Europe/Berlin', '2026-03-29T22:00:00Z', '2026-03-29T22:00:00.000Z'],
    ['DAY', 'Europe/Berlin', '2026-10-25T22:59:59.999Z', '2026-10-24T22:00:00.000Z'],
    ['DAY', 'Pacific/Auckland', '2026-11-26T10:59:59.999Z', '2026-11-25T11:00:00.000Z'],
    ['MONTH', 'America/New_York', '2026-12-01T04:59:59.999Z', '2026-11-01T04:00:00.000Z'],
    // Midnight occurs twice, or does not occur.
    ['DAY', 'Atlantic/Azores', '2026-10-24T23:59:59.999Z', '2026-10-24T00:00:00.000Z'],
    ['DAY', 'Atlantic/Azores', '2026-10-25T00:30:00Z', '2026-10-25T00:00:00.000Z'],
    ['DAY', 'Atlantic/Azores', '2026-10-25T12:00:00Z', '2026-10-25T00:00:00.000Z'],
    ['MONTH', 'America/Havana', '2026-11-01T04:30:00Z', '2026-11-01T04:00:00.000Z'],
    ['DAY', 'America/Santiago', '2026-04-05T03:30:00Z', '2026-04-04T03:00:00.000Z'],
    ['DAY', 'Africa/Cairo', '2026-04-23T22:30:00Z', '2026-04-23T22:00:00.000Z'],
    ['LAST_24_HOURS', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T12:00:00.001Z'],
    ['LAST_30_DAYS', 'UTC', '2026-03-31T00:00:00Z', '2026-03-01T00:00:00.001Z'],
  ] as const) {
    expect([zone, at, await start(period, zone, at)]).toEqual([zone, at, from]);
    if (period !== 'DAY' && period !== 'MONTH') continue;
    const next = await end(period, zone, at);
    expect(await start(period, zone, next)).toBe(next.toISOString());
    expect(await start(period, zone, new Date(next.getTime() - 1))).toBe(from);
  }
});

test.each([
  [{ limits: [{ ...usd('DAY', 1), currency: 'XXX' }] }, 'INVALID_CURRENCY', ['limits', 0, 'currency']],
  [{ limits: [{ period: 'DAY', currency: 'USD' }] }, 'INVALID_AMOUNT', ['limits', 0, 'amount']],
  [{ limits: [usd('DAY', 0)] }, 'INVALID_AMOUNT', ['limits', 0, 'amount', 'units']],
  [{ limits: [inEuros('0.001')] }, 'INVALID_AMOUNT', ['limits', 0, 'amount', 'decimal']],
  [{ limits: [{ period: 'PAYMENT', payments: 1 }] }, 'INVALID_INPUT', ['limits', 0]],
  [{ limits: [{ period: 'DAY', payments: -1 }] }, 'INVALID_INPUT', ['limits', 0, 'payments']],
  [{ limits: [usd('DAY', 1), usd('DAY', 2)] }, 'INVALID_INPUT', ['limits', 1]],
  // An empty list is refused, because a program could send one by mistake and thereby lift the restriction.
  [{ kinds: [] }, 'INVALID_INPUT', ['kinds']],
  [{ receiverAccountIds: [] }, 'INVALID_INPUT', ['receiverAccountIds']],
  [{ receiverCountries: [] }, 'INVALID_INPUT', ['receiverCountries']],
  [{ receiverUmaAddresses: [] }, 'INVALID_INPUT', ['receiverUmaAddresses']],
  [{ receiverCountries: ['US', 'UK'] }, 'INVALID_INPUT', ['receiverCountries', 1]],
  [{ receiverUmaAddresses: ['ada'] }, 'INVALID_UMA_ADDRESS', ['receiverUmaAddresses', 0]],
  [{ receiverAccountIds: ['InternalAccount:x'] }, 'ACCOUNT_NOT_FOUND', ['receiverAccountIds', 0]],
  [{ hoursFrom: '9:00', hoursTo: '18:00' }, 'INVALID_INPUT', ['hoursFrom']],
  [{ hoursFrom: '09:00' }, 'INVALID_INPUT', ['hoursTo']],
  [{ timeZone: 'FOO+3' }, 'INVALID_INPUT', ['timeZone']],
])('a policy with %j is refused', async (terms, code, path) => {
  expect(await set(scene.customerId, terms)).toMatchObject({ code, path: ['input', ...path] });
});
