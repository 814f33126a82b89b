import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { act, lookUp, mint, quote, sender, umaAddressOf } from '../setup/acts.ts';
import { connect, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

/** What the app of a customer may do besides, where the platform granted it when it minted the token. */

let t: TestGateway;
let own: Scene;
let other: Scene;
beforeAll(async () => {
  t = await startTestGateway();
  own = await makeScene(t.platform);
  other = await makeScene(t.platform);
});
afterAll(() => t.stop());

const receiver = '$success.usd@sandbox.uma.money';

async function appWith(grants?: readonly string[], bound: object = { customerId: own.customerId }) {
  const { token } = await mint(t.platform, { permissions: ['VIEW', 'TRANSACT'], ...bound, ...(grants && { grants }) });
  return connect(t.url, t.platform.platformId, `Bearer ${token}`);
}

let accounts = 0;
/** The input of a new account in Mexico. */
function beneficiary(rest: object = {}): object {
  accounts += 1;
  return {
    currency: 'MXN',
    accountInfo: { clabe: { clabeNumber: `64618011181234${String(5000 + accounts)}` } },
    beneficiary: { individual: { fullName: 'Ada Lovelace' } },
    ...rest,
  };
}

const add = (platform: TestPlatform, rest: object = {}) =>
  act(platform, 'createExternalAccount', beneficiary(rest), 'account { id customer { id } displayName }');

describe('without the grant', () => {
  test.each([
    ['none', undefined],
    ['the other', ['ADD_BENEFICIARIES']],
  ])('%s, an app looks nobody up, and the refusal names the grant', async (_what, grants) => {
    expect(await lookUp(await appWith(grants), receiver)).toMatchObject({
      __typename: 'ForbiddenError',
      code: 'FORBIDDEN',
      message: expect.stringContaining('LOOK_UP_RECEIVERS'),
    });
  });

  test('an app adds no account, and the refusal names the grant', async () => {
    for (const app of [await appWith(), await appWith(['LOOK_UP_RECEIVERS'])]) {
      expect(await add(app)).toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('ADD_BENEFICIARIES'),
      });
    }
  });

  test("the lookups of its customer's platform look unknown", async () => {
    const { id } = await lookUp(t.platform, receiver, { customerId: own.customerId });
    const app = await appWith(['ADD_BENEFICIARIES']);
    expect((await app.ask('query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull();
    expect(await payTo(app, receiver, id)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
  });
});

const payTo = (app: TestPlatform, umaAddress: string, lookupId: string) =>
  quote(app, {
    source: { account: { accountId: own.usd } },
    destination: { uma: { umaAddress, currency: 'USD' } },
    lookupId,
    lockedCurrencyAmount: 10_000,
    senderCustomerInfo: sender,
  });

describe('with the grant', () => {
  test('an app looks a receiver up for its customer, and pays with the lookup', async () => {
    const app = await appWith(['LOOK_UP_RECEIVERS']);
    expect((await app.ask('{ viewer { grants } }')).viewer).toEqual({ grants: ['LOOK_UP_RECEIVERS'] });
    const made = await lookUp(app, receiver);
    expect(made).toMatchObject({ umaAddress: receiver });
    expect((await app.ask('query ($id: ID!) { node(id: $id) { id } }', { id: made.id })).node).toEqual({ id: made.id });
    expect(await payTo(app, receiver, made.id)).toMatchObject({ status: 'PENDING' });
  });

  test('it looks nobody up for another customer, and sees no lookup of another', async () => {
    const app = await appWith(['LOOK_UP_RECEIVERS']);
    expect(await lookUp(app, receiver, { customerId: other.customerId })).toMatchObject({ code: 'USER_NOT_FOUND' });
    const senderUmaAddress = await umaAddressOf(t.platform, other.customerId);
    expect(await lookUp(app, receiver, { senderUmaAddress })).toMatchObject({ code: 'USER_NOT_FOUND' });
    for (const rest of [{ customerId: other.customerId }, {}]) {
      const { id } = await lookUp(t.platform, receiver, rest);
      expect((await app.ask('query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull();
      expect(await payTo(app, receiver, id)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
    }
  });

  test("an app adds its customer's own account, and pays to it", async () => {
    const app = await appWith(['ADD_BENEFICIARIES']);
    for (const rest of [{}, { customerId: own.customerId }]) {
      const { account } = await add(app, rest);
      expect(account).toMatchObject({ customer: { id: own.customerId }, displayName: 'Ada Lovelace' });
      const paid = { source: { account: { accountId: own.usd } }, destination: { account: { accountId: account.id } } };
      expect(await quote(app, { ...paid, lockedCurrencyAmount: 1_000 })).toMatchObject({ status: 'PENDING' });
    }
  });

  test('it adds none to another customer, and none that incoming payments go to', async () => {
    const app = await appWith(['ADD_BENEFICIARIES']);
    expect(await add(app, { customerId: other.customerId })).toMatchObject({ code: 'USER_NOT_FOUND' });
    expect(await add(app, { defaultUmaDepositAccount: true })).toMatchObject({
      code: 'FORBIDDEN',
      path: ['input', 'defaultUmaDepositAccount'],
    });
  });
});

describe('a token is granted', () => {
  test('nothing by default, and nothing for a payment', async () => {
    expect((await (await appWith()).ask('{ viewer { grants } }')).viewer).toEqual({ grants: [] });
    const made = await quote(t.platform, {
      source: { account: { accountId: own.usd } },
      destination: { account: { accountId: own.outsideEur } },
      lockedCurrencyAmount: 1_000,
    });
    expect(
      await act(t.platform, 'createClientToken', { quoteId: made.id, grants: ['LOOK_UP_RECEIVERS'] }),
    ).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'grants'] });
  });
});
