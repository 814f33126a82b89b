import { expect, test, vi } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);

const company = {
  customerType: 'BUSINESS',
  platformCustomerId: 'company',
  businessInfo: { legalName: 'Acme GmbH', taxId: 'DE1' },
};

test('null clears an optional field, is ignored for a required field, and is never stored as a value', async () => {
  const address = { line1: '1 Main St', line2: null, city: 'Town', postalCode: '1', country: 'US' };
  const person = { customerType: 'INDIVIDUAL', platformCustomerId: 'nulls', fullName: 'Ada', birthDate: '1990-01-01' };
  const raw = JSON.stringify({ ...person, address, umaAddress: null, metadata: { a: 'b' } });
  const { body: made } = await rest.call('POST', '/customers', { raw });
  expect(made.address).not.toHaveProperty('line2');
  const change = async (body: object) => {
    const raw = JSON.stringify({ customerType: 'INDIVIDUAL', ...body });
    return (await rest.call('PATCH', `/customers/${made.id}`, { raw })).body;
  };
  const emptied = await change({ address: null, birthDate: null, metadata: null });
  const { address: _address, birthDate: _birthDate, metadata: _metadata, ...others } = made;
  expect(emptied).toEqual({ ...others, updatedAt: emptied.updatedAt });
  const { updatedAt: _updatedAt, ...kept } = others;
  expect(await change({ address, umaAddress: null })).toMatchObject({ ...kept, address: made.address });
  const firm = await rest.make('/customers', { ...company, platformCustomerId: 'nulls of a company' });
  const ofFirm = (businessInfo: object | null) =>
    rest.ask('PATCH', `/customers/${firm.id}`, { customerType: 'BUSINESS', businessInfo });
  expect(await ofFirm(null)).toEqual(firm);
  expect((await ofFirm({ taxId: null })).businessInfo).toEqual({ legalName: 'Acme GmbH' });
  expect((await ofFirm({ legalName: null })).businessInfo).toEqual({ legalName: 'Acme GmbH' });
  const director = { fullName: 'Ada', individualType: 'DIRECTOR' };
  const owned = (beneficialOwners: object[] | null) =>
    t.platform.succeed(
      'updateCustomer',
      { customerId: firm.id, details: { business: { beneficialOwners } } },
      'customer { details { ... on BusinessDetails { beneficialOwners { fullName } } } }',
    );
  for (const [given, stored] of [
    [[director], [{ fullName: 'Ada' }]],
    [null, []],
  ] as const)
    expect((await owned(given && [...given])).customer.details.beneficialOwners).toEqual(stored);
  const nothing = { umaDomain: null, supportedCurrencies: null, trustedDocuments: null };
  expect(await rest.ask('PATCH', '/config', nothing)).toEqual(await rest.ask('GET', '/config'));
  expect(await change({ customerType: null })).toMatchObject({ status: 400, details: { field: 'customerType' } });
});

test('an empty update to a customer changes nothing in either API', async () => {
  const made = await rest.make('/customers', { ...company, platformCustomerId: 'unchanged' });
  const read = async () =>
    t.platform.ask(
      `query ($id: ID!) { customer(id: $id) { version updatedAt }
        events(filter: { customerId: $id, types: [KYC_STATUS, CUSTOMER_CHANGE] }) { totalCount } }`,
      { id: made.id },
    );
  // The event for the customer's creation reaches the feed a moment after the response.
  await vi.waitFor(async () => expect((await read()).events.totalCount).toBe(1), { timeout: 60_000 });
  const before = await read();
  for (const nothing of [{}, { businessInfo: {} }]) {
    const { body } = await rest.call('PATCH', `/customers/${made.id}`, {
      body: { customerType: 'BUSINESS', ...nothing },
      key: `nothing-${JSON.stringify(nothing)}`,
    });
    expect(body).toEqual(made);
  }
  for (const nothing of [{}, { umaAddress: null }, { details: { business: {} } }, { details: null }]) {
    const input = { customerId: made.id, ...nothing };
    const { customer } = await t.platform.succeed('updateCustomer', input, 'customer { version }');
    expect(customer).toEqual({ version: before.customer.version });
  }
  expect(await read()).toEqual(before);
  await rest.ask('PATCH', `/customers/${made.id}`, { customerType: 'INDIVIDUAL' }, 400);
  await rest.ask('DELETE', `/customers/${made.id}`);
  const late = await rest.ask('PATCH', `/customers/${made.id}`, { customerType: 'BUSINESS' }, 410);
  expect(late).toMatchObject({ code: 'CUSTOMER_DELETED', details: { field: 'customerId' } });
});
