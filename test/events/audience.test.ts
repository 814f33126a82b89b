import { expect, test } from 'vitest';
import { between, execute, feedEnd, quote } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { appOf, makeScene } from '../setup/scene.ts';
import { nextOf } from '../setup/streams.ts';

/** In a payment between two customers, each customer gets only the events of its own side. */

const t = await testGateway();
const payer = await makeScene(t.platform);
const payee = await makeScene(t.platform, 0n);

const payments = `subscription ($after: String) { transactionUpdates(after: $after) {
  status terminal transaction { id type status customer { id } } } }`;
const events = 'subscription ($after: String) { events(after: $after) { type account { id } customer { id } } }';
const balance = 'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { newBalance { amount } } }';

async function untilEnded(stream: AsyncIterator<Data>): Promise<Data[]> {
  const updates: Data[] = [];
  while (!updates.at(-1)?.terminal) updates.push((await nextOf(stream)).data.transactionUpdates);
  return updates;
}

test('payer and payee each get only the events of their own side of a payment', async () => {
  const after = await feedEnd(t.platform);
  const [from, to] = [
    await appOf(t.platform, { customerId: payer.customerId }),
    await appOf(t.platform, { customerId: payee.customerId }),
  ];
  const [sent, received] = [from.watch(payments, { after }), to.watch(payments, { after })];
  const arrives = to.watch(balance, { id: payee.usd });
  expect((await nextOf(arrives)).data.accountUpdates.newBalance.amount).toBe('0');

  const quoted = await quote(t.platform, between(payer.usd, payee.usd, 10_000, { lockedCurrencySide: 'RECEIVING' }));
  await execute(t.platform, quoted.id);

  const outgoing = await untilEnded(sent);
  expect(outgoing.map((update) => update.status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  for (const { transaction } of outgoing) {
    expect(transaction).toMatchObject({ id: quoted.transaction.id, type: 'OUTGOING' });
    expect(transaction.customer.id).toBe(payer.customerId);
  }
  const incoming = await untilEnded(received);
  expect(incoming.at(-1)).toMatchObject({ status: 'COMPLETED' });
  for (const { transaction } of incoming) {
    expect(transaction).toMatchObject({ type: 'INCOMING', customer: { id: payee.customerId } });
  }
  expect((await nextOf(arrives)).data.accountUpdates.newBalance.amount).toBe('10000');

  // Each customer's entire feed contains only its own account.
  for (const [device, scene] of [
    [from, payer],
    [to, payee],
  ] as const) {
    const feed = device.watch(events, { after });
    let event: Data;
    do {
      event = (await nextOf(feed)).data.events;
      expect(event.customer.id).toBe(scene.customerId);
    } while (event.type !== 'ACCOUNT_STATUS');
    expect(event.account.id).toBe(scene.usd);
    await feed.return?.();
  }
  for (const stream of [sent, received, arrives]) await stream.return?.();
});
