import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPlatform } from '../../src/payments/platforms/platforms.ts';
import { checkUmaAddress } from '../../src/payments/uma-addresses.ts';
import type { DomainProof } from '../../src/payments/uma-domains.ts';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { type RestClient, restClient } from '../setup/rest.ts';

/**
 * A platform gives addresses in its own domain, and a domain has one platform: so nobody gets what is meant for another's
 * address. In production the domain's owner has to say whose it is.
 */

/** What the staged world outside has published, by domain; and what was looked up. */
const published = new Map<string, string>();
const asked: [domain: string, text: string][] = [];
let answer: (domain: string, text: string) => Promise<DomainProof> | DomainProof;

let t: TestGateway;
let db: pg.Client;
let sandbox: RestClient;
let live: RestClient;
let rival: RestClient;
let livePlatform: TestPlatform;
beforeAll(async () => {
  t = await startTestGateway({ MAX_IN_FLIGHT: 1 }, undefined, {
    findDomainProof: async (domain, text) => {
      asked.push([domain, text]);
      return answer(domain, text);
    },
  });
  db = new pg.Client({ connectionString: t.databaseUrl });
  await db.connect();
  livePlatform = await t.newPlatform('live', 'PRODUCTION');
  sandbox = await restClient(t.url, t.platform.authorization);
  live = await restClient(t.url, livePlatform.authorization);
  rival = await restClient(t.url, (await t.newPlatform('rival', 'PRODUCTION')).authorization);
});
afterAll(async () => {
  await db.end();
  await t.stop();
});
beforeEach(() => {
  answer = (domain, text) => (published.get(domain) === text ? 'FOUND' : 'ABSENT');
  asked.length = 0;
});

const take = (platform: RestClient, umaDomain: string) => platform.call('PATCH', '/config', { body: { umaDomain } });
const domainOf = async (platform: RestClient) => (await platform.ask('GET', '/config')).umaDomain;

let made = 0;
function newCustomer(platform: RestClient, umaAddress?: string) {
  made += 1;
  const body = { customerType: 'INDIVIDUAL', platformCustomerId: `c${made}`, umaAddress };
  return platform.call('POST', '/customers', { body });
}

/** Publishes what a refusal asks for. */
function publish(domain: string, { body }: { readonly body: Data }): void {
  const [text] = /uma-platform=[0-9a-f]{40}/.exec(body.message) ?? [];
  published.set(domain, text ?? '');
}

describe('a production platform', () => {
  test('takes a domain when its owner has published whose it is, and gets it for its new customers', async () => {
    const before = await domainOf(live);
    const refused = await take(live, 'pay.bank.com');
    expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT', details: { field: 'umaDomain' } } });
    expect(refused.body.message).toContain('_uma-platform.pay.bank.com');
    expect(refused.body.message).toContain('https://pay.bank.com/.well-known/uma-platform.txt');
    expect(await domainOf(live)).toBe(before);
    expect((await newCustomer(live, '$ada@pay.bank.com')).body.code).toBe('INVALID_UMA_ADDRESS');

    publish('pay.bank.com', refused);
    expect(await take(live, 'Pay.BANK.com')).toMatchObject({ status: 200, body: { umaDomain: 'pay.bank.com' } });
    expect((await newCustomer(live, '$ada@pay.bank.com')).body.umaAddress).toBe('$ada@pay.bank.com');
    expect((await newCustomer(live)).body.umaAddress).toMatch(/^\$.+@pay\.bank\.com$/);
    // What it has already needs no proof.
    asked.length = 0;
    published.delete('pay.bank.com');
    expect((await take(live, 'pay.bank.com')).status).toBe(200);
    expect(asked).toEqual([]);
  });

  test('proves nothing by what is published for another platform or another domain', async () => {
    publish('shared.bank.com', await take(live, 'shared.bank.com'));
    expect((await take(rival, 'shared.bank.com')).status).toBe(409);
    published.set('other.bank.com', published.get('shared.bank.com') ?? '');
    expect((await take(live, 'other.bank.com')).status).toBe(409);
    expect(new Set(asked.map(([, text]) => text)).size).toBe(3);
  });

  test('is asked to try again while the domain cannot be looked up, and holds up nobody meanwhile', async () => {
    answer = () => 'UNKNOWN';
    const unknown = await take(live, 'slow.bank.com');
    expect(unknown).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    let end: (proof: DomainProof) => void = () => undefined;
    const begun = new Promise<void>((begin) => {
      answer = () => {
        begin();
        return new Promise((resolve) => {
          end = resolve;
        });
      };
    });
    const waiting = take(live, 'slow.bank.com');
    await begun;
    // One request may be processed at once (MAX_IN_FLIGHT): the one that waits is none of them.
    expect((await live.call('GET', '/config')).status).toBe(200);
    const second = await take(live, 'second.bank.com');
    expect(second).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(second.headers.get('retry-after')).toBe('1');
    end('FOUND');
    expect(await waiting).toMatchObject({ status: 200, body: { umaDomain: 'slow.bank.com' } });
  });

  test.each([
    ['a bare host', 'bank'],
    ['a machine', 'localhost'],
    ['a machine of a network', 'bank.local'],
    ['an internal name', 'pay.bank.internal'],
    ['an address', '192.0.2.7'],
    ['an address in disguise', '0x7f.1'],
    ['an IPv6 address', '[::1]'],
    ['a port', 'bank.com:8080'],
    ['a path', 'bank.com/pay'],
    ['an escaped name', 'b%61nk.com'],
    ['an empty label', 'bank..com'],
    ['a root', 'bank.com.'],
    ['a name for tests', 'bank.test'],
    ['a name for examples', 'pay.example.com'],
  ])('is refused %s without a look at it', async (_what, umaDomain) => {
    expect(await take(live, umaDomain)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', details: { field: 'umaDomain' } },
    });
    expect(asked).toEqual([]);
  });
});

describe('a domain', () => {
  test('of two platforms that prove it at once, goes to one', async () => {
    answer = () => 'FOUND';
    const answers = await Promise.all([take(live, 'contested.com'), take(rival, 'contested.com')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [winner, loser] = answers[0]?.status === 200 ? [live, rival] : [rival, live];
    expect(await domainOf(winner)).toBe('contested.com');
    expect(await domainOf(loser)).not.toBe('contested.com');
    expect((await newCustomer(loser, '$ada@contested.com')).body.code).toBe('INVALID_UMA_ADDRESS');
  });

  test('that is released stays reserved; its addresses stay and it gets no new ones', async () => {
    answer = () => 'FOUND';
    await take(live, 'first.com');
    const { body: customer } = await newCustomer(live, '$ada@first.com');
    expect((await take(live, 'second.com')).status).toBe(200);
    expect(await take(rival, 'first.com')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await newCustomer(live, '$grace@first.com')).body.code).toBe('INVALID_UMA_ADDRESS');
    const again = { customerType: 'INDIVIDUAL', umaAddress: '$ada@first.com', fullName: 'Ada' };
    expect((await live.ask('PATCH', `/customers/${customer.id}`, again)).umaAddress).toBe('$ada@first.com');
    // Whoever has it takes it again, with the proof of today.
    answer = () => 'ABSENT';
    expect((await take(live, 'first.com')).status).toBe(409);
    answer = () => 'FOUND';
    expect((await take(live, 'first.com')).status).toBe(200);
  });

  test('has one form: lower case and ASCII', async () => {
    answer = () => 'FOUND';
    expect((await take(live, 'Bücher.de')).body.umaDomain).toBe('xn--bcher-kva.de');
    expect((await take(rival, 'xn--BCHER-kva.de')).status).toBe(409);
    expect((await newCustomer(live, '$Ada@BÜCHER.de')).body.umaAddress).toBe('$ada@xn--bcher-kva.de');
  });

  test('in which another platform has an address cannot be taken, though no wall kept it from being given', async () => {
    answer = () => 'FOUND';
    const { body: customer } = await newCustomer(rival);
    const uuid = customer.id.split(':')[1];
    const give = () => db.query("update customer set uma_address = '$eve@victim.com' where id = $1", [uuid]);
    await expect(give()).rejects.toThrow('the domain of its UMA address is not of its platform');
    await db.query('alter table customer disable trigger address');
    await give();
    await db.query('alter table customer enable trigger address');
    expect(await take(live, 'victim.com')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  test('is taken once and for all: the database changes and deletes none', async () => {
    for (const statement of [
      "update uma_domain set platform_id = (select id from platform where name = 'rival')",
      'delete from uma_domain',
      'truncate uma_domain',
    ])
      await expect(db.query(statement)).rejects.toThrow('append-only');
  });
});

describe('a sandbox platform', () => {
  test.each(['pay.acme.test', 'acme.example', 'example.com', 'pay.example.org'])(
    'takes %s without proof: it is nobody’s',
    async (domain) => {
      expect(await take(sandbox, domain)).toMatchObject({ status: 200, body: { umaDomain: domain } });
      expect(asked).toEqual([]);
    },
  );

  test.each(['bank.com', 'test', 'example', 'notexample.com', 'example.com.bank.com'])(
    'does not take %s',
    async (domain) => {
      expect((await take(sandbox, domain)).body).toMatchObject({
        code: 'INVALID_INPUT',
        details: { field: 'umaDomain' },
      });
      expect(asked).toEqual([]);
    },
  );

  test.each(['sandbox.uma.money', 'uma.money', 'new.uma.money', 'live.uma.money', 'a.test.uma.money'])(
    'does not take %s, which the service gives',
    async (domain) => {
      for (const platform of [sandbox, rival]) {
        expect(await take(platform, domain)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
      }
    },
  );

  test('takes its first domain again', async () => {
    expect((await take(sandbox, 'test.uma.money')).status).toBe(200);
  });
});

test('no platform has the domain of the receivers that the sandbox simulates, whatever its name', async () => {
  const { platformId } = await createPlatform(t.gateway.payments, { name: 'sandbox', environment: 'SANDBOX' });
  const { umaDomain } = await t.gateway.payments.database.prisma.platform.findUniqueOrThrow({
    where: { id: platformId },
  });
  expect(umaDomain).toMatch(/^sandbox-[0-9a-f]{6}\.uma\.money$/);
});

test('a UMA address ends in a domain, not in a host, an address of a machine or a port', () => {
  const refused = [
    '$a@bank',
    '$a@localhost',
    '$a@10.0.0.1',
    '$a@[::1]',
    '$a@bank.com:443',
    '$a@pay.local',
    '$a@b@c.com',
  ];
  for (const address of refused) {
    expect(() => checkUmaAddress(address, ['umaAddress']), address).toThrow(
      expect.objectContaining({
        code: 'INVALID_UMA_ADDRESS',
        details: expect.objectContaining({ path: ['umaAddress'] }),
      }),
    );
  }
  expect(checkUmaAddress('$Ada@Pay.Bank.com', ['umaAddress'])).toBe('$ada@pay.bank.com');
});
