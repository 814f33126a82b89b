import { describe, expect, test } from 'vitest';
import { moving, refusal, usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { usAccount } from '../setup/scene.ts';

const t = await testGateway();
const platform = t.platform;

const fields = `id platformCustomerId customerType umaAddress kycStatus isDeleted version name
  details {
    ... on IndividualDetails { fullName birthDate nationality address { line1 city postalCode country } }
    ... on BusinessDetails { legalName registrationNumber taxId beneficialOwners { fullName individualType percentageOwnership } } }`;

/** Sends a customer mutation, and returns its result. */
async function change(name: 'createCustomer' | 'updateCustomer' | 'deleteCustomer', input: object): Promise<Data> {
  return platform.act(name, input, `customer { ${fields} }`);
}

const person = (fullName: string) => ({ individual: { fullName } });

async function create(platformCustomerId: string, more: object = { details: person('Grace Hopper') }): Promise<Data> {
  const { customer } = await change('createCustomer', { platformCustomerId, ...more });
  return customer;
}

const list = (filter: object) => platform.idsIn('customers', filter);

describe('updating', () => {
  test('changes the given fields, leaves the omitted ones, and clears those set to null', async () => {
    const address = { line1: '1 Main Street', city: 'Arlington', postalCode: '22201', country: 'US' };
    const individual = { fullName: 'Grace Hopper', birthDate: '1990-12-09', nationality: 'US', address };
    const { id, version } = await create('update-1', { details: { individual } });
    const given = { fullName: 'Grace B. Hopper', birthDate: null };
    const { customer } = await change('updateCustomer', { customerId: id, details: { individual: given } });
    const details = { ...given, nationality: 'US', address };
    expect(customer).toMatchObject({ id, version: version + 1, name: 'Grace B. Hopper', details });
  });

  test('a business keeps its name when only its owners change', async () => {
    const business = { legalName: 'Engines Ltd', registrationNumber: 'E-1' };
    const { id } = await create('update-2', { details: { business } });
    const owner = { fullName: 'Ada Lovelace', individualType: 'DIRECTOR', percentageOwnership: '60' };
    const details = { business: { beneficialOwners: [owner] } };
    const { customer } = await change('updateCustomer', { customerId: id, details });
    expect(customer.details).toEqual({ ...business, taxId: null, beneficialOwners: [owner] });
  });

  test('refuses a different type, an unknown customer and any invalid field, naming the field', async () => {
    const { id } = await create('update-3');
    const update = (details?: object, customerId = id) => change('updateCustomer', { customerId, details });
    const ofAnotherType = await update({ business: { legalName: 'Engines Ltd' } });
    const wrongType = { __typename: 'InvalidInputError', ...refusal('INVALID_INPUT', 'details', 'business') };
    expect(ofAnotherType).toMatchObject(wrongType);
    const blank = await update({ individual: { address: { line1: ' ', postalCode: '1', country: 'US' } } });
    expect(blank).toMatchObject(refusal('INVALID_INPUT', 'details', 'individual', 'address', 'line1'));
    const unknown = await update(undefined, 'Customer:00000000-0000-7000-8000-000000000000');
    expect(unknown).toMatchObject({ __typename: 'NotFoundError', ...refusal('USER_NOT_FOUND', 'customerId') });
  });

  test.each([
    ['percentageOwnership', ['0', '33.333333', '33.3333333333333', '100'], ['-0.01', '100.01', `33.${'3'.repeat(14)}`]],
    ['percentageOwnership', ['0.0000000000001'], ['0.00000000000001', `0.1${'0'.repeat(20)}1`]],
    ['phoneNumber', ['+12', `+1${'2'.repeat(14)}`], ['+1', '12', '+02', `+1${'2'.repeat(15)}`]],
    ['title', ['x'.repeat(100)], ['x'.repeat(101)]],
    ['taxId', ['x'.repeat(100)], ['x'.repeat(101)]],
    ['emailAddress', ['x'.repeat(320)], ['x'.repeat(321)]],
    ['fullName', ['x'], ['', ' ']],
  ])('checks the %s of an owner: accepts each of %j, and refuses each of %j', async (field, right, wrong) => {
    const { id } = await create('owned', { details: { business: { legalName: 'Engines Ltd' } } });
    const owner = { fullName: 'Ada Lovelace', individualType: 'DIRECTOR' };
    const owned = (value: unknown) => {
      const beneficialOwners = [owner, { ...owner, [field]: value }];
      return change('updateCustomer', { customerId: id, details: { business: { beneficialOwners } } });
    };
    for (const value of right) expect((await owned(value)).customer?.id).toBe(id);
    const refused = refusal('INVALID_INPUT', 'details', 'business', 'beneficialOwners', 1, field);
    for (const value of wrong) expect(await owned(value)).toMatchObject(refused);
  });

  test('requires the legal name of a new business', async () => {
    const named = (legalName?: string) =>
      change('createCustomer', { platformCustomerId: 'nameless', details: { business: { taxId: '1', legalName } } });
    await expect(named()).rejects.toThrow(/legalName/);
    expect(await named(' ')).toMatchObject(refusal('INVALID_INPUT', 'details', 'business', 'legalName'));
  });
});

describe('UMA addresses', () => {
  const move = (customerId: string, umaAddress: string) => change('updateCustomer', { customerId, umaAddress });

  test('are generated if none is given', async () => {
    const { umaAddress } = await create('uma-1');
    expect(umaAddress).toMatch(/^\$[a-z0-9._+-]{1,63}@[a-z0-9.-]+$/);
  });

  test('are stored in lower case, and are unique regardless of case', async () => {
    const first = await create('uma-2', { umaAddress: '$Grace.H@Test.UMA.money', details: person('Grace Hopper') });
    expect(first.umaAddress).toBe('$grace.h@test.uma.money');
    const another = { platformCustomerId: 'uma-3', details: person('Grace Hopper') };
    const exists = { __typename: 'ConflictError', ...refusal('UMA_ADDRESS_EXISTS', 'umaAddress') };
    const taken = await change('createCustomer', { ...another, umaAddress: '$GRACE.h@test.uma.MONEY' });
    expect(taken).toMatchObject(exists);
    const { id } = await create('uma-4');
    expect(await move(id, '$Grace.H@test.uma.money')).toMatchObject(exists);
    for (const own of ['$Second@test.uma.money', '$SECOND@test.uma.money'])
      expect((await move(id, own)).customer.umaAddress).toBe('$second@test.uma.money');
  });

  test('that several customers request at the same time are given to only one of them', async () => {
    const rivals = await Promise.all(['rival-1', 'rival-2', 'rival-3'].map((id) => create(id)));
    const answers = await Promise.all(rivals.map(({ id }) => move(id, '$contested@test.uma.money')));
    const codes = answers.map((answer) => answer.code ?? 'done').sort();
    expect(codes).toEqual(['UMA_ADDRESS_EXISTS', 'UMA_ADDRESS_EXISTS', 'done']);
  });

  test('must be in the domain of their platform', async () => {
    const neighbour = await t.newPlatform('neighbour');
    const { customerId } = await neighbour.makeScene(0n);
    const [, theirs = ''] = (await neighbour.umaAddressOf(customerId)).split('@');
    const refused = { __typename: 'InvalidInputError', ...refusal('INVALID_UMA_ADDRESS', 'umaAddress') };
    const details = person('Grace Hopper');
    const mine = await create('uma-6');
    for (const domain of [theirs, theirs.toUpperCase(), 'xtest.uma.money', 'bank.com', `sub.${theirs}`, 'uma.money']) {
      const umaAddress = `$Treasury@${domain}`;
      const made = await change('createCustomer', { platformCustomerId: 'uma-6', umaAddress, details });
      expect([made, await move(mine.id, umaAddress)]).toMatchObject([refused, refused]);
    }
    const moved = await move(mine.id, '$Treasury@TEST.uma.money');
    expect(moved.customer.umaAddress).toBe('$treasury@test.uma.money');
  });

  test('that are malformed are refused; a handle has at most 63 characters', async () => {
    const make = (name: string) => {
      const [umaAddress, details] = [name.replace('@', '@test.uma.money'), person('Grace Hopper')];
      return change('createCustomer', { platformCustomerId: 'uma-5', umaAddress, details });
    };
    for (const name of ['grace@', '$grace', '$gr ace@', '$@', `$${'a'.repeat(64)}@`])
      expect(await make(name), name).toMatchObject(refusal('INVALID_UMA_ADDRESS', 'umaAddress'));
    expect((await make(`$${'a'.repeat(63)}@`)).__typename).toBe('CreateCustomerSuccess');
  });
});

describe('identity checks', () => {
  test.each([
    ['Grace Hopper', 'APPROVED'],
    ['Grace Hopper 001', 'PENDING_REVIEW'],
    ['Grace Hopper 002', 'REJECTED'],
    ['Grace Hopper 003', 'EXPIRED'],
  ])('in the sandbox give a person or company named %j the status %s', async (name, kycStatus) => {
    expect((await create('kyc-1', { details: person(name) })).kycStatus).toBe(kycStatus);
    expect((await create('kyc-2', { details: { business: { legalName: name } } })).kycStatus).toBe(kycStatus);
  });

  test('let a customer move money once the customer is approved, for example after a name change', async () => {
    const { id } = await create('kyc-3', { details: person('Grace Hopper 001') });
    const usd = await platform.internalAccount(id, 'USD');
    await platform.fund(usd, 10_000n);
    const outside = await platform.externalAccount(id, 'USD', usAccount('5550001000'));
    const send = () => platform.act('transferOut', moving(usd, outside, 1_000));
    expect(await send()).toMatchObject({ __typename: 'ForbiddenError', code: 'USER_NOT_READY' });
    expect(await platform.balanceOf(usd)).toBe(10_000n);
    const { customer } = await change('updateCustomer', { customerId: id, details: person('Grace Hopper') });
    expect(customer.kycStatus).toBe('APPROVED');
    expect(await send()).toMatchObject({ __typename: 'TransferOutSuccess' });
  });
});

describe('a deleted customer', () => {
  test('keeps its history, cannot move money, and cannot be deleted or changed again', async () => {
    const scene = await platform.makeScene(0n);
    const { customer } = await change('deleteCustomer', { customerId: scene.customerId });
    expect(customer).toMatchObject({ id: scene.customerId, isDeleted: true });

    const refused = { __typename: 'ForbiddenError', code: 'USER_NOT_READY' };
    expect(await platform.act('transferIn', moving(scene.outsideUsd, scene.usd, 1_000))).toMatchObject(refused);
    expect(await platform.quote(usdToEur(scene))).toMatchObject({ code: 'USER_NOT_READY' });
    expect(await platform.balanceOf(scene.usd)).toBe(0n);

    for (const again of [
      await change('deleteCustomer', { customerId: scene.customerId }),
      await change('updateCustomer', { customerId: scene.customerId, details: person('Grace') }),
      await change('updateCustomer', { customerId: scene.customerId }),
    ]) {
      expect(again).toMatchObject({ __typename: 'ConflictError', ...refusal('CUSTOMER_DELETED', 'customerId') });
    }
    const kept = '... on Customer { isDeleted accounts { totalCount edges { node { id } } } }';
    const history = { isDeleted: true, accounts: { totalCount: 16 } };
    expect(await platform.fieldsOf('node', scene.customerId, kept)).toMatchObject(history);
  });

  test('releases its UMA address', async () => {
    const umaAddress = '$leaving@test.uma.money';
    const first = await create('gone-1', { umaAddress, details: person('Grace Hopper') });
    await change('deleteCustomer', { customerId: first.id });
    const second = await create('gone-2', { umaAddress, details: person('Ada Lovelace') });
    expect(second.umaAddress).toBe(umaAddress);
    expect(await list({ umaAddress })).toEqual([second.id]);
    const [other, third] = [await create('gone-3'), await create('gone-4')];
    await change('deleteCustomer', { customerId: other.id });
    const moved = await change('updateCustomer', { customerId: third.id, umaAddress: other.umaAddress });
    expect(moved.customer.umaAddress).toBe(other.umaAddress);
    expect(await list({ umaAddress, isIncludingDeleted: true })).toEqual([second.id, first.id]);
  });
});

test('a name is found by its prefix over both APIs, regardless of case, script and Unicode composition', async () => {
  const rest = await restClient(t.url, platform.authorization);
  const cases = [
    ['Straße Groß', 'STRASSE GROSS', 'strasse', 'Stra\u1e9eE'],
    ['ΟΔΥΣΣΕΥΣ Σ', 'οδυσσευς', 'ὀδυσ'.normalize('NFD').replace(/\u0313/g, '')],
    ['Jose\u0301 Nu\u0301n\u0303ez', 'jos\u00e9', 'JOSE\u0301 N\u00da\u00d1'],
    ['\u0130stanbul Ltd', 'i\u0307STANBUL'],
    ['\ufb03 Trading', 'FFI t'],
    ['Ǆepni', 'ǆE', 'ǅepni'],
    ['Чайковский', 'ЧАЙ'],
    ['ԱՐԱՄ', 'արամ'],
    ['Ꭰꮳ', 'ꭰᏣ'],
    ['50% _off\\', '50% _OFF\\'],
  ] as const;
  for (const [fullName, ...starts] of cases) {
    const { id } = await create('named', { details: person(fullName) });
    for (const name of [...starts, fullName, ` ${fullName.normalize('NFD')} `]) {
      expect({ name, found: await list({ name }) }).toEqual({ name, found: [id] });
      const { data } = await rest.ask('GET', `/customers?name=${encodeURIComponent(name)}`);
      expect({ name, found: data.map((one: Data) => one.id) }).toEqual({ name, found: [id] });
    }
  }
  expect(await list({ name: 'Istanbul' })).toEqual([]);
  expect(await list({ name: 'ndez' })).toEqual([]);
});
