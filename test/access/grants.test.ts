import { describe, expect, test } from 'vitest';
import { act, between, fieldsOf, lookUp, quote, refusal, sender, umaAddressOf } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { makeScene, payingApp } from '../setup/scene.ts';

/** Additional rights that a platform can grant to a customer's app when it mints the app's token. */

const t = await testGateway();
const own = await makeScene(t.platform);
const other = await makeScene(t.platform);

const receiver = '$success.usd@sandbox.uma.money';

const appWith = (grants?: readonly string[]) =>
  payingApp(t.platform, { customerId: own.customerId, ...(grants && { grants }) });

let accounts = 0;
/** Adds a new account in Mexico. */
function add(platform: TestPlatform, rest: object = {}): Promise<Data> {
  accounts += 1;
  const input = {
    ...{ currency: 'MXN', beneficiary: { individual: { fullName: 'Ada Lovelace' } } },
    ...{ accountInfo: { clabe: { clabeNumber: `64618011181234${5000 + accounts}` } }, ...rest },
  };
  return act(platform, 'createExternalAccount', input, 'account { id customer { id } displayName }');
}

describe('without the grant', () => {
  const lookUpAny = (app: TestPlatform) => lookUp(app, receiver);
  test.each([
    ['look up receivers', lookUpAny, 'LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES'],
    ['add an account', add, 'ADD_BENEFICIARIES', 'LOOK_UP_RECEIVERS'],
  ] as const)('an app cannot %s, and the refusal names the missing grant', async (_act, attempt, missing, other) => {
    const refused = { __typename: 'ForbiddenError', code: 'FORBIDDEN', message: expect.stringContaining(missing) };
    for (const app of [await appWith(), await appWith([other])]) expect(await attempt(app)).toMatchObject(refused);
  });

  test("an app does not see the lookups of its customer's platform", async () => {
    const { id } = await lookUp(t.platform, receiver, { sender: { customerId: own.customerId } });
    const app = await appWith(['ADD_BENEFICIARIES']);
    expect(await fieldsOf(app, 'node', id, 'id')).toBeNull();
    expect(await payTo(app, receiver, id)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
  });
});

function payTo(app: TestPlatform, umaAddress: string, lookupId: string): Promise<Data> {
  const destination = { uma: { umaAddress, currency: 'USD' } };
  return quote(app, between(own.usd, '', 10_000, { destination, lookupId, senderCustomerInfo: sender }));
}

describe('with the grant', () => {
  test('an app looks up a receiver for its customer, and pays with the lookup', async () => {
    const app = await appWith(['LOOK_UP_RECEIVERS']);
    expect((await app.ask('{ viewer { grants } }')).viewer).toEqual({ grants: ['LOOK_UP_RECEIVERS'] });
    const made = await lookUp(app, receiver);
    expect(made).toMatchObject({ umaAddress: receiver });
    expect(await fieldsOf(app, 'node', made.id, 'id')).toEqual({ id: made.id });
    expect(await payTo(app, receiver, made.id)).toMatchObject({ status: 'PENDING' });
  });

  test("an app cannot look up receivers for another customer, or see another's lookups", async () => {
    const app = await appWith(['LOOK_UP_RECEIVERS']);
    const { customerId } = other;
    for (const sender of [{ customerId }, { umaAddress: await umaAddressOf(t.platform, customerId) }])
      expect(await lookUp(app, receiver, { sender })).toMatchObject({ code: 'USER_NOT_FOUND' });
    for (const rest of [{ sender: { customerId } }, {}]) {
      const { id } = await lookUp(t.platform, receiver, rest);
      expect(await fieldsOf(app, 'node', id, 'id')).toBeNull();
      expect(await payTo(app, receiver, id)).toMatchObject({ code: 'LOOKUP_REQUEST_NOT_FOUND' });
    }
  });

  test("an app adds its customer's own account, and pays to it", async () => {
    const app = await appWith(['ADD_BENEFICIARIES']);
    for (const rest of [{}, { customerId: own.customerId }]) {
      const { account } = await add(app, rest);
      expect(account).toMatchObject({ customer: { id: own.customerId }, displayName: 'Ada Lovelace' });
      expect(await quote(app, between(own.usd, account.id, 1_000))).toMatchObject({ status: 'PENDING' });
    }
  });

  test('an app cannot add accounts to another customer, or accounts for incoming payments', async () => {
    const app = await appWith(['ADD_BENEFICIARIES']);
    expect(await add(app, { customerId: other.customerId })).toMatchObject({ code: 'USER_NOT_FOUND' });
    const refused = await add(app, { defaultUmaDepositAccount: true });
    expect(refused).toMatchObject(refusal('FORBIDDEN', 'defaultUmaDepositAccount'));
  });
});

describe('the default grants of a token', () => {
  test('are empty; a token for a payment cannot have any', async () => {
    expect((await (await appWith()).ask('{ viewer { grants } }')).viewer).toEqual({ grants: [] });
    const made = await quote(t.platform, between(own.usd, own.outsideEur, 1_000));
    const input = { boundTo: { quoteId: made.id }, grants: ['LOOK_UP_RECEIVERS'] };
    expect(await act(t.platform, 'createClientToken', input)).toMatchObject(refusal('INVALID_INPUT', 'grants'));
  });
});
