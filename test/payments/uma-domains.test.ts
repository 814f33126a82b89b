import { describe, expect, test } from 'vitest';
import { checkUmaAddress } from '../../src/domain/commands/uma-addresses.ts';
import { createPlatform } from '../../src/domain/platforms/platforms.ts';
import { testClient, testGateway, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { type RestClient, restClient } from '../setup/rest.ts';

/**
 * A platform assigns addresses in its own domain, and each domain belongs to a single platform, so that no one receives
 * payments meant for someone else's address. In production the operator assigns a platform's domain.
 */

const t = await testGateway();
const db = await testClient(t);
const sandbox = await restClient(t.url, t.platform.authorization);
const live = await restClient(t.url, (await t.newPlatform('live', 'PRODUCTION')).authorization);
const rival = await restClient(t.url, (await t.newPlatform('rival', 'PRODUCTION')).authorization);

/** Runs the operator's command that assigns a domain to a platform. */
const give = (name: string, domain: string) => runOps(t.databaseUrl, ['platform', 'domain', name, domain]);
const take = (platform: RestClient, umaDomain: string) => platform.call('PATCH', '/config', { body: { umaDomain } });
const refused = (status: 400 | 409, code: string) => ({ status, body: { code, details: { field: 'umaDomain' } } });
const domainOf = async (platform: RestClient) => (await platform.ask('GET', '/config')).umaDomain;

let made = 0;
function newCustomer(platform: RestClient, umaAddress?: string) {
  made += 1;
  const body = { customerType: 'INDIVIDUAL', platformCustomerId: `c${made}`, umaAddress };
  return platform.call('POST', '/customers', { body });
}

describe('a production platform', () => {
  test('gets its domain from the operator, and new customers then have addresses in that domain', async () => {
    const before = await domainOf(live);
    expect(await take(live, 'pay.bank.com')).toMatchObject(refused(409, 'CONFLICT'));
    expect(await domainOf(live)).toBe(before);
    expect((await newCustomer(live, '$ada@pay.bank.com')).body.code).toBe('INVALID_UMA_ADDRESS');

    expect(await give('live', 'Pay.BANK.com')).toMatchObject({ code: 0, out: expect.stringContaining('pay.bank.com') });
    expect(await domainOf(live)).toBe('pay.bank.com');
    expect((await newCustomer(live, '$ada@pay.bank.com')).body.umaAddress).toBe('$ada@pay.bank.com');
    expect((await newCustomer(live)).body.umaAddress).toMatch(/^\$.+@pay\.bank\.com$/);
    expect((await take(live, 'pay.bank.com')).status).toBe(200);
  });

  test('gets the same refusal whether or not another platform has the domain', async () => {
    expect((await give('live', 'owned.com')).code).toBe(0);
    const [ofAnother, ofNobody] = await Promise.all([take(rival, 'owned.com'), take(rival, 'nobody.com')]);
    expect(ofAnother).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(ofAnother.body).toEqual(ofNobody.body);
  });

  // The last test in this file tries more names that are not domains.
  test.each([
    ['a bare host', 'bank'],
    ['a name reserved for tests', 'bank.test'],
    ['a name reserved for examples', 'pay.example.com'],
  ])('cannot be given %s', async (_what, umaDomain) => {
    expect(await take(live, umaDomain)).toMatchObject(refused(400, 'INVALID_INPUT'));
  });
});

describe('a domain', () => {
  test('that is assigned to two platforms concurrently goes to only one of them', async () => {
    const answers = await Promise.all([give('live', 'contested.com'), give('rival', 'contested.com')]);
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 1]);
  });

  test("is never given to a second platform, and neither invalid domains nor the service's own are assigned", async () => {
    expect((await give('live', 'kept.com')).code).toBe(0);
    expect((await give('rival', 'kept.com')).err).toBe('another platform has this UMA domain (CONFLICT)');
    for (const domain of ['kept.com', 'bank', 'bank.com:8080', 'uma.money', 'live.uma.money'])
      expect(await give('rival', domain), domain).toMatchObject({ code: 1, out: '' });
    expect((await give('live', 'live.uma.money')).code).toBe(0);
    expect(await give('nobody', 'other.com')).toMatchObject({ code: 1, err: expect.stringContaining('nobody') });
  });

  test('that is replaced stays reserved and keeps its addresses, but gets no new ones', async () => {
    await give('live', 'first.com');
    const { body: customer } = await newCustomer(live, '$ada@first.com');
    await give('live', 'second.com');
    expect((await give('rival', 'first.com')).code).toBe(1);
    expect((await newCustomer(live, '$grace@first.com')).body.code).toBe('INVALID_UMA_ADDRESS');
    const again = { customerType: 'INDIVIDUAL', umaAddress: '$ada@first.com', fullName: 'Ada' };
    expect((await live.ask('PATCH', `/customers/${customer.id}`, again)).umaAddress).toBe('$ada@first.com');
    // The platform can take its former domain back.
    expect((await take(live, 'first.com')).status).toBe(200);
  });

  test('is stored in lower case and ASCII, however it is written', async () => {
    await give('live', 'Bücher.de');
    expect(await domainOf(live)).toBe('xn--bcher-kva.de');
    expect((await give('rival', 'xn--BCHER-kva.de')).code).toBe(1);
    const { body: customer } = await newCustomer(live, '$Ada@BÜCHER.de');
    expect(customer.umaAddress).toBe('$ada@xn--bcher-kva.de');
    const { data } = await live.ask('GET', `/customers?umaAddress=${encodeURIComponent(' $ADA@bücher.de')}`);
    expect(data).toMatchObject([{ id: customer.id }]);
  });

  test('cannot be assigned if another platform has an address in it, even if that address bypassed the trigger', async () => {
    const { body: customer } = await newCustomer(rival);
    const uuid = uuidIn(customer.id);
    const spoil = () => db.query("update customer set uma_address = '$eve@victim.com' where id = $1", [uuid]);
    await expect(spoil()).rejects.toThrow('the domain of the UMA address does not belong to the platform');
    await db.query('alter table customer disable trigger address');
    await spoil();
    await db.query('alter table customer enable trigger address');
    expect((await give('live', 'victim.com')).code).toBe(1);
  });

  test('is permanent: the database refuses to change or delete it', async () => {
    for (const statement of [
      "update uma_domain set platform_id = (select id from platform where name = 'rival')",
      'delete from uma_domain',
      'truncate uma_domain',
    ])
      await expect(db.query(statement)).rejects.toThrow('append-only');
  });
});

describe('a sandbox platform', () => {
  const free = ['pay.acme.test', 'acme.example', 'example.com', 'pay.example.org', 'example.net'];
  test.each(free)('can take %s, which nobody has', async (domain) => {
    expect(await take(sandbox, domain)).toMatchObject({ status: 200, body: { umaDomain: domain } });
  });

  const others = ['bank.com', 'test', 'example', 'notexample.com', 'example.com.bank.com'];
  test.each(others)('cannot take %s', async (domain) => {
    expect(await take(sandbox, domain)).toMatchObject(refused(400, 'INVALID_INPUT'));
  });

  const ofService = ['sandbox.uma.money', 'uma.money', 'new.uma.money', 'live.uma.money', 'a.test.uma.money'];
  test.each(ofService)('cannot take %s, which belongs to the service', async (domain) => {
    for (const platform of [sandbox, rival])
      expect(await take(platform, domain)).toMatchObject(refused(409, 'CONFLICT'));
  });

  test('can take at most twenty domains, even concurrently, and can return to any of them', async () => {
    const greedy = await restClient(t.url, (await t.newPlatform('greedy')).authorization);
    const first = await domainOf(greedy);
    const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => take(greedy, `d${n}.test`)));
    const taken = answers.filter(({ status }) => status === 200).map(({ body }) => body.umaDomain);
    // The domain that the platform had from the start counts as one of the twenty.
    expect(taken).toHaveLength(19);
    expect(await take(greedy, 'more.test')).toMatchObject(refused(409, 'CONFLICT'));
    for (const domain of [taken[0], first]) expect((await take(greedy, domain)).status).toBe(200);
  });
});

test("no platform has the domain of the sandbox's simulated receivers, whatever its name", async () => {
  const { platformId } = await createPlatform(t.gateway.payments, { name: 'sandbox', environment: 'SANDBOX' });
  const { prisma } = t.gateway.payments.database;
  const { umaDomain } = await prisma.platform.findUniqueOrThrow({ where: { id: platformId } });
  expect(umaDomain).toMatch(/^sandbox-[0-9a-f]{6}\.uma\.money$/);
});

test('platforms with similar names have different domains, and the longest name leaves room for addresses', async () => {
  expect(await domainOf(await restClient(t.url, (await t.newPlatform('Live')).authorization))).toMatch(/^live-.{6}\./);
  const longest = await restClient(t.url, (await t.newPlatform('x'.repeat(63))).authorization);
  const umaAddress = `$ada@${await domainOf(longest)}`;
  expect((await newCustomer(longest, umaAddress)).body.umaAddress).toBe(umaAddress);
  for (const name of ['x'.repeat(64), '', ' x', 'x ', 'x  y', 'live'])
    await expect(t.newPlatform(name), name).rejects.toMatchObject({
      code: name === 'live' ? 'CONFLICT' : 'INVALID_INPUT',
    });
});

test('a UMA address ends in a domain, not in a bare host name, an IP address or a port', () => {
  const label = 'x'.repeat(63);
  const [longest, tooLong] = [`${`${label}.`.repeat(3)}${'x'.repeat(61)}`, `${`${label}.`.repeat(3)}${'x'.repeat(62)}`];
  const machines = 'localhost local localdomain internal intranet private corp home lan arpa onion invalid alt';
  const wrong = [
    ...['bank', 'localhost', '10.0.0.1', '0x7f.1', '[::1]', 'bank.com:443', 'b@c.com', 'bank..com', 'bank.com.'],
    ...[`x${label}.com`, `bank.x${label}`, tooLong],
    ...['-bank.com', 'bank-.com', 'bank.-com', 'bank.com-', 'my_bank.com', 'bank.1', 'b%61nk.com', 'bank.com/pay'],
    ...machines.split(' ').map((name) => `pay.${name}`),
  ].map((domain) => `$a@${domain}`);
  for (const domain of [longest, `${label}.com`, `bank.${label}`, 'b-k.c-m', '1.com'])
    expect(checkUmaAddress(`$a@${domain}`, [])).toBe(`$a@${domain}`);
  const details = expect.objectContaining({ path: ['umaAddress'] });
  const refusal = expect.objectContaining({ code: 'INVALID_UMA_ADDRESS', details });
  for (const address of wrong) expect(() => checkUmaAddress(address, ['umaAddress']), address).toThrow(refusal);
  expect(checkUmaAddress('$Ada@Pay.Bank.com', ['umaAddress'])).toBe('$ada@pay.bank.com');
});
