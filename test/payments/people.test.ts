import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';

// Tests the dates of birth and the countries of customers, company owners, account owners and senders.

const t = await testGateway();
const { platform } = t;
const rest = await restClient(t.url, platform.authorization);
const scene = await platform.makeScene();
const [{ now }] = (await t.owner.query<{ now: Date }>('select clock_ms() as now')).rows as [{ now: Date }];

/** Returns the date that is the given number of years and days from today, by the database's clock. */
function day(years: number, days = 0): string {
  const moment = new Date(now);
  moment.setUTCFullYear(moment.getUTCFullYear() + years, moment.getUTCMonth(), moment.getUTCDate() + days);
  return moment.toISOString().slice(0, 10);
}

const born: readonly (readonly [day: string, refused: RegExp | null])[] = [
  [day(0), null],
  [day(-150), null],
  ['2000-02-29', null],
  [day(0, 2), /must not be in the future: today is \d{4}-\d\d-\d\d/],
  ['9999-12-31', /must not be in the future/],
  [day(-150, -1), /must not be more than 150 years ago/],
  ['1800-01-01', /must not be more than 150 years ago/],
];
const countries: readonly (readonly [code: string, refused: RegExp | null])[] = [
  ['GB', null],
  ['GR', null],
  ['SX', null],
  ['XX', /must be an ISO 3166-1 country code$/],
  ['XK', /must be an ISO 3166-1 country code$/],
  ['UK', /must be an ISO 3166-1 country code; did you mean GB\?/],
  ['EL', /must be an ISO 3166-1 country code; did you mean GR\?/],
  ['gb', /must be a two-letter country code such as US; did you mean GB\?/],
  ['USA', /must be a two-letter country code such as US; did you mean US\?/],
];

let made = 0;
const fresh = () => {
  made += 1;
  return String(made);
};
const company = (owner: object) => ({
  business: { legalName: 'Engines', beneficialOwners: [{ fullName: 'Ada', individualType: 'DIRECTOR', ...owner }] },
});
const account = () => ({
  usAccount: { accountNumber: `77${fresh().padStart(6, '0')}`, routingNumber: '021000021', accountCategory: 'SAVINGS' },
});
const create = (details: object) => platform.act('createCustomer', { platformCustomerId: fresh(), details });
const ofPerson = (fields: object) => create({ individual: { fullName: 'Ada', ...fields } });
const address = (country: string) => ({ address: { line1: '1 Main Street', postalCode: '1', country } });
const changed = (fields: object) =>
  platform.act('updateCustomer', { customerId: scene.customerId, details: { individual: fields } });
const beneficiary = (fields: object) =>
  platform.act('createExternalAccount', {
    currency: 'USD',
    accountInfo: account(),
    beneficiary: { individual: { fullName: 'Ada', ...fields } },
  });
const fact = (name: string, value: string) =>
  platform.umaQuote(scene.usd, '$success.usd@sandbox.uma.money', { senderCustomerInfo: [{ name, value }] });
/** Creates a customer over REST. Returns the response body. */
async function inRest(fields: object): Promise<Data> {
  const body = { customerType: 'INDIVIDUAL', platformCustomerId: fresh(), fullName: 'Ada', ...fields };
  return (await rest.call('POST', '/customers', { body })).body;
}

const births: Readonly<Record<string, (birthDate: string) => Promise<Data>>> = {
  'a customer': (birthDate) => ofPerson({ birthDate }),
  'a changed customer': (birthDate) => changed({ birthDate }),
  'a customer over REST': (birthDate) => inRest({ birthDate }),
  'an owner of a company': (birthDate) => create(company({ birthDate })),
  'a beneficiary': (birthDate) => beneficiary({ birthDate }),
  'a fact about a sender': (value) => fact('BIRTH_DATE', value),
};
const places: Readonly<Record<string, (country: string) => Promise<Data>>> = {
  'the nationality of a customer': (nationality) => ofPerson({ nationality }),
  'the address of a customer': (country) => ofPerson(address(country)),
  'the nationality of a changed customer': (nationality) => changed({ nationality }),
  'the nationality of a customer over REST': (nationality) => inRest({ nationality }),
  'the address of a customer over REST': (country) => inRest(address(country)),
  'the nationality of an owner of a company': (nationality) => create(company({ nationality })),
  'the address of a company': (country) => create({ business: { legalName: 'Engines', ...address(country) } }),
  'the nationality of a beneficiary': (nationality) => beneficiary({ nationality }),
  'the address of a beneficiary': (country) => beneficiary(address(country)),
  'a fact about a sender': (value) => fact('COUNTRY_OF_RESIDENCE', value),
};

const isAboutIt = ({ code, message = '' }: Data, words: RegExp) => code === 'INVALID_INPUT' && words.test(message);

describe.each(Object.entries(births))('%s', (_who, send) => {
  test.each(born)('born on %s', async (birth, refused) => {
    const answer = await send(birth);
    if (refused) expect(answer).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(refused) });
    else expect(isAboutIt(answer, /must not be|must be a valid date/)).toBe(false);
  });
});

describe.each(Object.entries(places))('%s', (_what, send) => {
  test.each(countries)('in %s', async (country, refused) => {
    const answer = await send(country);
    if (refused) expect(answer).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(refused) });
    else expect(isAboutIt(answer, /ISO 3166|two-letter/)).toBe(false);
  });
});

test("a customer's new details are validated before the customer is looked up, in both APIs", async () => {
  const deleted = await platform.newCustomer();
  await platform.act('deleteCustomer', { customerId: deleted });
  const others = [
    [`Customer:${randomUUID()}`, 'USER_NOT_FOUND', 404],
    ['Customer:x', 'USER_NOT_FOUND', 404],
    [deleted, 'CUSTOMER_DELETED', 410],
  ] as const;
  for (const [customerId, code, status] of others) {
    for (const [fullName, expected] of [
      ['\u200b', { code: 'INVALID_INPUT', status: 400 }],
      ['Ada King', { code, status }],
    ] as const) {
      const details = { individual: { fullName } };
      expect(await platform.act('updateCustomer', { customerId, details })).toMatchObject({ code: expected.code });
      const body = { customerType: 'INDIVIDUAL', fullName };
      const inRest = await rest.call('PATCH', `/customers/${customerId}`, { body });
      expect({ code: inRest.body.code, status: inRest.status }).toEqual(expected);
    }
  }
});
