import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { requiredCurrency } from '../../src/core/currencies.ts';
import { connectedRail, railOf } from '../../src/domain/commands/command.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { ConfigError, readConfig } from '../../src/server/config.ts';
import { openPayments } from '../../src/server/gateway.ts';

/** Rails are modules named in the setting RAILS. They are checked at startup, and any fault aborts it. */

const directory = await mkdtemp(path.join(os.tmpdir(), 'rails-'));
afterAll(() => rm(directory, { recursive: true }));

const database = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', role: 'gateway_work' });
afterAll(() => database.close());

async function open(rails: object | string) {
  const text = typeof rails === 'string' ? rails : JSON.stringify(rails);
  return openPayments(database, readConfig({ RAILS: text }), pino({ level: 'silent' }));
}

/** Writes a module. Returns its path. */
async function write(source: string, name = `${randomUUID()}.mjs`): Promise<string> {
  const file = path.join(directory, name);
  await writeFile(file, source);
  return file;
}

const [usd, eur] = [requiredCurrency('USD'), requiredCurrency('EUR')];
const first = '0197f2a0-0000-7000-8000-000000000001';
const second = '0197f2a0-0000-7000-8000-000000000002';

/** A rail that takes a single rate from its settings, and appends to a file when it is closed. */
const rateRail = `
import { appendFileSync } from 'node:fs';
export default {
  railPort: 1,
  name: 'rates',
  async open(settings, host) {
    if (typeof settings?.rate !== 'string') throw new Error('rate must be a decimal');
    return {
      name: 'rates of ' + host.environment,
      rate: async () => ({ rate: settings.rate, serviceFixedFee: 0n, serviceVariableFeeRate: '0', counterpartyFixedFee: 0n, minSendingAmount: 1n, maxSendingAmount: 1000n, bridge: '1' }),
      close: async () => appendFileSync(settings.log, settings.rate + ' closed;'),
    };
  },
};`;

test('without the setting, SANDBOX platforms have the sandbox, and PRODUCTION platforms have no rail', async () => {
  const payments = await openPayments(database, readConfig({}), pino({ level: 'silent' }));
  expect(connectedRail(payments, { platformId: first, environment: 'SANDBOX' })?.name).toBe('sandbox');
  const production = { platformId: first, environment: 'PRODUCTION' } as const;
  expect(connectedRail(payments, production)).toBeUndefined();
  expect(() => railOf(payments, production)).toThrow('no rail is connected for PRODUCTION platforms');
});

test('a rail is a separate module, with its own settings for each environment and platform', async () => {
  await write(rateRail, 'rates.mjs');
  const log = path.join(directory, 'closed');
  const file = await write(
    JSON.stringify({
      PRODUCTION: {
        module: './rates.mjs',
        settings: { rate: '1.1', log },
        platforms: { [`Platform:${first}`]: { module: './rates.mjs', settings: { rate: '1.2', log } } },
      },
    }),
    'rails.json',
  );
  // Modules named in a file are resolved relative to that file, regardless of the working directory.
  const payments = await open(file);
  const rate = async (platformId: string) => {
    return (await railOf(payments, { platformId, environment: 'PRODUCTION' }, 'rate').rate(usd, eur))?.rate;
  };
  expect([await rate(first), await rate(second)]).toEqual(['1.2', '1.1']);
  expect(() => railOf(payments, { platformId: second, environment: 'PRODUCTION' }, 'payOut')).toThrow(
    'the rail of PRODUCTION platforms does not pay out',
  );
  expect(connectedRail(payments, { platformId: first, environment: 'SANDBOX' })?.name).toBe('sandbox');
});

test('a single platform can have a rail while others in its environment have none', async () => {
  const module = await write(rateRail);
  const platforms = { [`Platform:${first}`]: { module, settings: { rate: '3', log: path.join(directory, 'log') } } };
  const payments = await open({ PRODUCTION: { platforms } });
  expect(railOf(payments, { platformId: first, environment: 'PRODUCTION' }, 'rate').name).toBe('rates of PRODUCTION');
  expect(() => railOf(payments, { platformId: second, environment: 'PRODUCTION' }, 'rate')).toThrow(
    'the rail of PRODUCTION platforms does not convert currencies',
  );
});

test('the sandbox is loaded like any other rail, and the rates in its settings override its rate table', async () => {
  const payments = await open({ SANDBOX: { module: 'sandbox', settings: { rates: { 'USD/EUR': { rate: '2' } } } } });
  expect((await railOf(payments, { platformId: first, environment: 'SANDBOX' }, 'rate').rate(usd, eur))?.rate).toBe(
    '2',
  );
});

const exported = (members: string) => `export default { ${members} };`;
const opening = (parts: string) => exported(`railPort: 1, name: 'mine', open: () => ({ name: 'mine', ${parts} })`);

test.for<readonly [fault: string, module: string, refusal: string]>([
  ['no rail', 'export const rail = 1;', 'has no rail as its default export'],
  ['a syntax error', 'export default {', 'cannot be loaded: '],
  ['no version', exported('name: "mine", open() {}'), 'does not declare its version of the port'],
  [
    'another version',
    exported('railPort: 2, name: "mine", open() {}'),
    'is for version 2 of the port; this gateway has version 1',
  ],
  ['no name', exported('railPort: 1, open() {}'), 'has no name'],
  ['no open function', exported('railPort: 1, name: "mine"'), 'has no function named open'],
  [
    'wrong settings',
    exported('railPort: 1, name: "mine", open() { throw new Error("apiKey must be set"); }'),
    'the rail mine cannot be opened: apiKey must be set',
  ],
  ['a part that is not a function', opening('rate: 1.1'), 'the rail mine has members that must be functions: rate'],
  ['a misspelled part', opening('payout() {}'), 'members that the port does not define: payout'],
  ['no part', opening(''), 'the rail mine implements no method of the port'],
  [
    'webhooks without a reader',
    opening('receiveWebhook() {}'),
    'the rail mine must have both receiveWebhook and readWebhook, or neither',
  ],
  [
    'collections that cannot be refunded',
    opening('collect() {}, expectedMs() {}'),
    'collects money but cannot refund it',
  ],
  ['no expected time', opening('payOut() {}'), 'moves money but lacks expectedMs'],
  ['half a simulation', opening('simulation: { deposit() {} }'), 'lacks the functions scenarioFault'],
])('a module with %s is refused at startup, naming the module and the fault', async ([, source, refusal]) => {
  const module = await write(source);
  const opened = open({ SANDBOX: { module } });
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow('RAILS SANDBOX: ');
  await expect(opened).rejects.toThrow(refusal);
});

test('a rail with a simulation cannot serve PRODUCTION platforms', async () => {
  await expect(open({ PRODUCTION: { module: 'sandbox' } })).rejects.toThrow(
    'RAILS PRODUCTION: the rail sandbox is a simulation, so it cannot serve PRODUCTION platforms',
  );
});

test('if one rail is refused, a rail that was already open is closed', async () => {
  const log = path.join(directory, 'closed-after-fault');
  const module = await write(rateRail);
  const platforms = { [`Platform:${first}`]: { module: './nowhere.mjs' } };
  await expect(open({ PRODUCTION: { module, settings: { rate: '7', log }, platforms } })).rejects.toThrow(
    `RAILS PRODUCTION.platforms.Platform:${first}: the module ./nowhere.mjs cannot be loaded`,
  );
  expect(await readFile(log, 'utf8')).toBe('7 closed;');
});

test.for<readonly [fault: string, text: string, refusal: string]>([
  ['no JSON', '{', 'RAILS must be JSON: '],
  ['a missing file', './none.json', './none.json cannot be read (ENOENT)'],
  ['an unknown environment', '{"TEST": {"module": "x"}}', 'RAILS Unrecognized key: "TEST"'],
  ['an entry without a module', '{"SANDBOX": {}}', 'SANDBOX must name a module, or platforms with their own modules'],
  ['settings without a module', '{"SANDBOX": {"settings": {}}}', 'SANDBOX has settings but no module'],
  [
    "a name instead of a platform's id",
    '{"SANDBOX": {"platforms": {"acme": {"module": "x"}}}}',
    'must be the id of a platform',
  ],
])('a setting with %s is refused, with the reason', ([, text, refusal]) => {
  expect(() => readConfig({ RAILS: text })).toThrow(refusal);
});
