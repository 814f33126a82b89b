import { expect, test } from 'vitest';
import { type Data, testGateway, triedAs } from '../setup/gateway.ts';
import { askOps, runOps, typeIn } from '../setup/ops.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// Every operator command that changes something writes an audit record in the same transaction (decision 79).

const t = await testGateway({ SECRET_KEY: Buffer.alloc(32, 7) });
const secret = { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
const scene = await t.platform.makeScene(1_000n);

const ops = (...args: string[]) => runOps(t.databaseUrl, args, secret);
const answer = (...args: string[]): Promise<Data> => askOps(t.databaseUrl, args, secret);
const acts = (...filter: string[]): Promise<Data[]> => answer('acts', ...filter);
const by = ['--by', 'Ada Lovelace', '--reason', 'a test'];
const platformId = () => `Platform:${t.platform.platformId}`;

test('each command that changes something is recorded: who, what, why and which row', async () => {
  const { id: transaction } = await t.platform.pay(scene, 10, { sandboxScenario: { delayMs: 3_600_000 } });
  const webhookEndpoint = await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/hook' });
  const made = await answer('platform', 'create', 'acme', '--sandbox', ...by);
  await answer('platform', 'limits', 'acme', '--platform', '100/500', ...by);
  const token = await answer('token', 'issue', 'acme', '--name', 'second', '--permissions', 'VIEW', ...by);
  await answer('token', 'revoke', 'acme', token.id, ...by);
  await answer('order', 'retry', transaction, ...by);
  await answer('webhook', 'replay', 'test', webhookEndpoint.id, '--after', await firstCursor(), ...by);
  typeIn('{"a":1}');
  await answer('rails', 'connect', 'acme', ...by);
  await answer('account', 'freeze', scene.eur, ...by);
  await answer('customer', 'freeze', scene.customerId, ...by);
  await answer('customer', 'thaw', scene.customerId, ...by);
  await answer('restored', '--yes', ...by);

  const done = (await acts()).filter((one) => one.by === 'Ada Lovelace');
  const frozen = { frozenAt: expect.stringMatching(/^\d{4}-/) };
  const none = { frozenAt: null };
  const expected = [
    { act: 'restored', subject: null, platform: null, after: { epoch: expect.any(Number) } },
    { act: 'customer thaw', subject: scene.customerId, platform: 'test', before: frozen, after: none },
    { act: 'customer freeze', subject: scene.customerId, before: none, after: frozen },
    { act: 'account freeze', subject: scene.eur, platformId: platformId() },
    { act: 'rails connect', subject: made.id, before: null, after: null },
    { act: 'webhook replay', subject: webhookEndpoint.id, after: { count: expect.any(Number) } },
    { act: 'order retry', subject: transaction, before: { orders: [{ attempts: expect.any(Number) }] } },
    { act: 'token revoke', subject: token.id, after: { endedApiTokens: 0 } },
    { act: 'token issue', subject: token.id, platform: 'acme', after: { name: 'second', permissions: ['VIEW'] } },
    { act: 'platform limits', subject: made.id, before: { platform: null }, after: { platform: '100/500' } },
    { act: 'platform create', subject: made.id, after: { name: 'acme', environment: 'SANDBOX' } },
  ];
  expect(done).toMatchObject(expected.map((one) => ({ ...one, by: 'Ada Lovelace', reason: 'a test' })));
  expect(JSON.stringify(done)).not.toContain(token.secret);
  expect(JSON.stringify(done)).not.toContain(made.secret);
});

async function firstCursor(): Promise<string> {
  const { events } = await t.platform.ask('{ events(first: 1) { edges { cursor } } }');
  return events.edges[0].cursor;
}

test('acts can be filtered by row and limited in number, and are printed as a readable table', async () => {
  const only = async (...filter: string[]) => (await acts(...filter)).map(({ act }) => act);
  expect(await only('--subject', scene.customerId)).toEqual(['customer thaw', 'customer freeze']);
  expect(await only('--subject', scene.customerId, '--limit', '1')).toEqual(['customer thaw']);
  const people = (await ops('acts', '--subject', scene.eur)).out.split('\n');
  expect(people[0]).toMatch(/^at +by +act +subject +platform +reason$/);
  expect(people[1]).toContain(`Ada Lovelace  account freeze  ${scene.eur}  test      a test`);
  expect((await ops('acts', '--subject', 'nobody')).out).toBe('No act matches.');
  expect(await ops('acts', '--limit', '0')).toMatchObject({ code: 2 });
});

test("an act without an operator's name is recorded under the machine's login; commands that change nothing are not acts", async () => {
  const before = (await acts()).length;
  await answer('platform', 'limits', 'acme');
  await answer('account', 'freeze', scene.eur, ...by);
  expect((await ops('token', 'revoke', 'acme', 'ApiToken:0197f2a0-0000-7000-8000-000000000001')).code).toBe(1);
  expect((await ops('suspense', 'release', 'Transaction:0197f2a0-0000-7000-8000-000000000001')).code).toBe(1);
  expect(await acts()).toHaveLength(before);
  await answer('platform', 'limits', 'acme', '--platform', 'default');
  const [last] = await acts('--limit', '1');
  expect(last).toMatchObject({ act: 'platform limits', by: expect.stringMatching(/\S/), reason: null });
});

test('acts cannot be changed or deleted, and requests cannot read them', async () => {
  const as = (role: string, text: string) => triedAs(t, role, text);
  const changes = [`update operator_act set reason = 'another'`, 'delete from operator_act', 'truncate operator_act'];
  for (const change of changes) {
    expect(await as('gateway_work', change)).toBe('42501');
    expect(await as('gateway_serving', change)).toBe('42501');
    expect(await as('owner', change)).toBe('LG001');
  }
  expect(await as('gateway_serving', 'select from operator_act')).toBe('42501');
  expect(await as('gateway_serving', `insert into operator_act (operator, act) values ('x', 'y')`)).toBe('42501');
  expect(await as('gateway_serving', `select set_frozen('CUSTOMER', uuid_v7(), true, 'x', 'y')`)).toBe('42501');
});
