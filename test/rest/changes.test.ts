import { expect, test, vi } from 'vitest';
import { succeed } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { restClient } from '../setup/rest.ts';
import { restScene, restTransfer } from '../setup/rest-scene.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const other = await restClient(t.url, (await t.newPlatform('other')).authorization);
const scene = await restScene(rest, 1_000);

const company = {
  customerType: 'BUSINESS',
  platformCustomerId: 'company',
  businessInfo: { legalName: 'Acme GmbH', taxId: 'DE1' },
};

test('a change of a customer keeps the type and all fields that it omits', async () => {
  const made = await rest.make('/customers', company);
  const path = `/customers/${made.id}`;
  const changed = await rest.ask('PATCH', path, {
    customerType: 'BUSINESS',
    umaAddress: '$acme@test.uma.money',
    businessInfo: { legalName: 'Acme SE' },
  });
  expect(changed).toEqual({
    ...made,
    umaAddress: '$acme@test.uma.money',
    businessInfo: { legalName: 'Acme SE', taxId: 'DE1' },
    updatedAt: changed.updatedAt,
  });
  expect(await rest.ask('GET', path)).toEqual(changed);
  const person = await rest.ask('PATCH', path, { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' }, 400);
  expect(person).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'customerType' } });
  const taken = { customerType: 'INDIVIDUAL', umaAddress: '$acme@test.uma.money' };
  const refused = await rest.ask('PATCH', `/customers/${scene.customer.id}`, taken, 409);
  expect(refused).toMatchObject({ code: 'UMA_ADDRESS_EXISTS', details: { field: 'umaAddress' } });
  const bad = { customerType: 'BUSINESS', businessInfo: { legalName: ' ' } };
  const unnamed = await rest.ask('PATCH', path, bad, 400);
  expect(unnamed).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'businessInfo.legalName' } });
  const foreign = await other.ask('PATCH', path, { customerType: 'BUSINESS' }, 404);
  expect(foreign).toMatchObject({ code: 'USER_NOT_FOUND', details: { field: 'customerId' } });
});

test('null clears a field on a change, is ignored if the field is required, and never sets a value', async () => {
  const address = { line1: '1 Main St', line2: null, city: 'Town', postalCode: '1', country: 'US' };
  const person = { customerType: 'INDIVIDUAL', platformCustomerId: 'nulls', fullName: 'Ada', birthDate: '1990-01-01' };
  const raw = JSON.stringify({ ...person, address, umaAddress: null, metadata: { a: 'b' } });
  const { body: made } = await rest.call('POST', '/customers', { raw });
  expect(made.address).not.toHaveProperty('line2');
  const change = async (body: object) =>
    (
      await rest.call('PATCH', `/customers/${made.id}`, {
        raw: JSON.stringify({ customerType: 'INDIVIDUAL', ...body }),
      })
    ).body;
  const emptied = await change({ address: null, birthDate: null, metadata: null });
  const { address: _address, birthDate: _birthDate, metadata: _metadata, ...others } = made;
  expect(emptied).toEqual({ ...others, updatedAt: emptied.updatedAt });
  expect(await change({ address, umaAddress: null })).toMatchObject({
    ...others,
    address: made.address,
    updatedAt: expect.anything(),
  });
  const firm = await rest.make('/customers', { ...company, platformCustomerId: 'nulls of a company' });
  const ofFirm = (businessInfo: object | null, status = 200) =>
    rest.ask('PATCH', `/customers/${firm.id}`, { customerType: 'BUSINESS', businessInfo }, status);
  expect(await ofFirm(null)).toEqual(firm);
  expect((await ofFirm({ taxId: null })).businessInfo).toEqual({ legalName: 'Acme GmbH' });
  expect((await ofFirm({ legalName: null }, 400)).details.field).toBe('businessInfo.legalName');
  const nothing = { umaDomain: null, supportedCurrencies: null, trustedDocuments: null };
  expect(await rest.ask('PATCH', '/config', nothing)).toEqual(await rest.ask('GET', '/config'));
  expect(await change({ customerType: null })).toMatchObject({ status: 400, details: { field: 'customerType' } });
});

test('an empty change of a customer changes nothing, over either API', async () => {
  const made = await rest.make('/customers', { ...company, platformCustomerId: 'unchanged' });
  const read = async () =>
    t.platform.ask(
      `query ($id: ID!) { customer(id: $id) { version updatedAt }
        events(filter: { customerId: $id, types: [KYC_STATUS, CUSTOMER_CHANGE] }) { totalCount } }`,
      { id: made.id },
    );
  // The event of its creation reaches the feed a moment after the answer.
  const before = await vi.waitFor(
    async () => {
      const now = await read();
      expect(now.events.totalCount).toBe(1);
      return now;
    },
    { timeout: 60_000 },
  );
  for (const nothing of [{}, { businessInfo: {} }]) {
    const { body } = await rest.call('PATCH', `/customers/${made.id}`, {
      body: { customerType: 'BUSINESS', ...nothing },
      key: `nothing-${JSON.stringify(nothing)}`,
    });
    expect(body).toEqual(made);
  }
  for (const nothing of [{}, { umaAddress: null }, { details: { business: {} } }, { details: null }]) {
    const { customer } = await succeed(
      t.platform,
      'updateCustomer',
      { customerId: made.id, ...nothing },
      'customer { id version }',
    );
    expect(customer).toEqual({ id: made.id, version: before.customer.version });
  }
  expect(await read()).toEqual(before);
  await rest.ask('PATCH', `/customers/${made.id}`, { customerType: 'INDIVIDUAL' }, 400);
  await rest.ask('DELETE', `/customers/${made.id}`);
  const late = await rest.ask('PATCH', `/customers/${made.id}`, { customerType: 'BUSINESS' }, 410);
  expect(late).toMatchObject({ code: 'CUSTOMER_DELETED', details: { field: 'customerId' } });
});

test('a customer with money cannot be deleted, and the refusal states what is left', async () => {
  const { id } = await rest.make('/customers', { ...company, platformCustomerId: 'holds-money' });
  const { data } = await rest.ask('GET', `/customers/internal-accounts?customerId=${id}`);
  const [account, another] = data;
  for (const [to, amount] of [
    [account, 125],
    [another, 7],
  ]) {
    await rest.ask('POST', `/sandbox/internal-accounts/${to.id}/fund`, { amount });
  }
  const refused = await rest.ask('DELETE', `/customers/${id}`, undefined, 409);
  const left = [
    { accountId: account.id, amount: 125, currency: account.balance.currency },
    { accountId: another.id, amount: 7, currency: another.balance.currency },
  ];
  expect(refused).toMatchObject({
    code: 'CUSTOMER_IN_USE',
    details: { field: 'customerId', paymentsUnderWay: 0, transactionIds: [] },
  });
  expect(refused.details.balances).toHaveLength(2);
  expect(refused.details.balances).toEqual(expect.arrayContaining(left));

  const own = (await rest.ask('GET', '/platform/internal-accounts')).data;
  for (const { accountId, amount, currency } of refused.details.balances) {
    const to = own.find(({ balance }: Data) => balance.currency.code === currency.code);
    const body = { source: { accountId }, destination: { accountId: to.id }, amount };
    const sent = await rest.make('/transfer-internal', body);
    expect(sent).toMatchObject({ status: 'COMPLETED', type: 'OUTGOING', customerId: id });
  }
  expect(await rest.ask('DELETE', `/customers/${id}`)).toMatchObject({ id, isDeleted: true });
});

test('a record frozen by an operator shows since when, and cannot pay', async () => {
  const made = await restScene(rest, 1_000);
  const ops = (...args: string[]) => runOps(t.databaseUrl, [...args, '--reason', 'a court order', '--by', 'Ada']);
  const transfer = restTransfer(made.usd.id, made.outsideUsd.id, 10);
  const since = expect.stringMatching(/Z$/);

  await ops('account', 'freeze', made.usd.id);
  expect(await rest.ask('POST', '/transfer-out', transfer, 403)).toMatchObject({
    code: 'ACCOUNT_FROZEN',
    details: { field: 'source.accountId', accountId: made.usd.id },
  });
  const { data } = await rest.ask('GET', `/customers/internal-accounts?customerId=${made.customer.id}&currency=USD`);
  expect(data).toMatchObject([{ id: made.usd.id, frozenAt: since }]);
  await ops('account', 'thaw', made.usd.id);

  await ops('customer', 'freeze', made.customer.id);
  expect(await rest.ask('POST', '/transfer-out', transfer, 403)).toMatchObject({
    code: 'CUSTOMER_FROZEN',
    details: { field: 'source.accountId', customerId: made.customer.id },
  });
  const path = `/customers/${made.customer.id}`;
  expect(await rest.ask('GET', path)).toMatchObject({ frozenAt: since });
  await ops('customer', 'thaw', made.customer.id);
  expect(await rest.ask('GET', path)).not.toHaveProperty('frozenAt');
  await rest.make('/transfer-out', transfer);
});
