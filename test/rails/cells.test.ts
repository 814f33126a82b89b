import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../setup/free-port.ts';
import { connect, type TestPlatform } from '../setup/gateway.ts';
import { isOnPath } from '../setup/programs.ts';
import { startTwoGateways, type TwoGateways } from './two-gateways.ts';

// The setup in docs/growing.md: two installations with separate databases, behind one HAProxy that routes by host name.

/** The host names in the example, and the names that replace them in this test, which resolve to this machine. */
const hosts = { 'north.pay.example': '127.0.0.1', 'south.pay.example': 'localhost' };

describe.runIf(isOnPath('haproxy'))('cells behind one address', () => {
  let two: TwoGateways;
  let port: number;
  let folder: string;
  let haproxy: ChildProcess;
  beforeAll(async () => {
    two = await startTwoGateways({ pollMs: 10 });
    port = await freePort();
    folder = await mkdtemp(path.join(tmpdir(), 'cells-'));
    const file = path.join(folder, 'cells.cfg');
    await writeFile(file, await configuration(port, { north: two.gateway.url, south: two.upstream.url }));
    haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    await vi.waitFor(async () => expect((await fetch(`${at('north')}/health/ready`)).status).toBe(200), 60_000);
  });
  afterAll(async () => {
    const gone = once(haproxy, 'exit');
    haproxy.kill();
    await gone;
    await rm(folder, { recursive: true });
    await two.stop();
  });

  const at = (cell: 'north' | 'south') => `http://${hosts[`${cell}.pay.example`]}:${port}`;
  const through = (cell: 'north' | 'south', { platformId, authorization }: TestPlatform) =>
    connect(at(cell), platformId, authorization);

  test('a platform is found only under the host name of its cell, and unknown names are refused', async () => {
    const platform = await two.upstream.newPlatform('known');
    const ask = (url: string) =>
      fetch(`${url}/2025-10-13/config`, { headers: { authorization: platform.authorization } });
    expect((await ask(at('south'))).status).toBe(200);
    expect((await ask(at('north'))).status).toBe(401);
    const elsewhere = await ask(`http://127.0.0.2:${port}`);
    expect([elsewhere.status, await elsewhere.json()]).toEqual([421, expect.objectContaining({ status: 421 })]);
  });

  test('a customer of one cell pays a customer of another: both see the payment, and both ledgers match', async () => {
    const shop = await two.connected('shop');
    await shop.connect({ baseUrl: `${at('south')}/2025-10-13` });
    const north = through('north', shop.platform);
    const south = through('south', await two.upstream.newPlatform('southern'));
    const [payer, payee] = [await north.makeScene(0n), await south.makeScene(0n)];
    await north.bringIn(payer, 50_000n);
    const address = await south.umaAddressOf(payee.customerId);
    const made = await north.umaQuote(payer.usd, address, { lockedCurrencyAmount: 10_000 });
    const after = await south.feedEnd();
    await north.execute(made.id);
    const incoming = await south.seen(after, ({ type, status }) => type === 'INCOMING' && status === 'PENDING');
    await south.succeed('approveTransaction', { transactionId: incoming.id });

    expect(await south.ended(incoming.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await north.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await north.balanceOf(payer.usd)).toBe(40_000n);
    expect(await south.balanceOf(payee.usd)).toBe(BigInt(made.totalReceivingAmount.amount));
    expect((await two.compare(shop.platform)).differences).toEqual([]);
  });
});

/** Returns the example's configuration, adapted to the given port and the test's instances. */
async function configuration(port: number, cells: Readonly<Record<'north' | 'south', string>>): Promise<string> {
  let text = await readFile('deploy/haproxy/cells.cfg', 'utf8');
  for (const [name, here] of Object.entries(hosts)) {
    expect(text).toContain(`str ${name} `);
    text = text.replace(`str ${name} `, `str ${here} `);
  }
  // A slow machine must not make a cell unavailable.
  expect(text).toContain('fall 2 ');
  text = text.replace('fall 2 ', 'fall 100 ');
  text = text.replace('bind :80', `bind 127.0.0.1:${port},127.0.0.2:${port},::1:${port}`);
  for (const [cell, url] of Object.entries(cells))
    text = text.replaceAll(new RegExp(`(server ${cell}-\\d) \\S+`, 'g'), `$1 ${new URL(url).host}`);
  return text;
}
