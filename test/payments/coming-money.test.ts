import { describe, expect, test } from 'vitest';
import { between, bringIn, quote, refusal, transfer } from '../setup/acts.ts';
import { untilRows, uuidIn } from '../setup/connections.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

// Money under way to an account counts towards the account's maximum, once, on every path.

const t = await testGateway();

/** The maximum balance of an account, and an amount that is under way. */
const most = 9_000_000_000_000_000n;
const coming = 4_000_000_000_000_000n;
const late = { sandboxScenario: { delayMs: 3_600_000 } };

/** Starts a transfer-in, and returns its payment or the refusal. */
const begin = (scene: Scene, amount: bigint) => transfer(t.platform, 'transferIn', scene, amount, late);

/** Starts a payment of this amount to an account of the payee, and returns it. */
async function send(accountId: string, to: Scene): Promise<Data> {
  const made = await quote(
    t.platform,
    between(accountId, to.usd, coming, { lockedCurrencySide: 'RECEIVING', immediatelyExecute: true, ...late }),
  );
  expect(made.code).toBeUndefined();
  return made.transaction;
}

async function expectRoom(payee: Scene, room: bigint): Promise<void> {
  expect(await begin(payee, room + 1n)).toMatchObject(refusal('AMOUNT_OUT_OF_RANGE', 'amount', 'units'));
  expect(await begin(payee, room)).toMatchObject({ status: 'PENDING' });
  // An amount of up to a tenth of the maximum is not checked here: it is refused on arrival.
  expect(await begin(payee, most / 10n + 1n)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
}

describe('an account with money under way to it has room for the rest, to the last unit', () => {
  test('from a payment that is PROCESSING', async () => {
    const [payer, payee] = [await makeScene(t.platform, 0n), await makeScene(t.platform, 0n)];
    await bringIn(t.platform, payer, 5_000_000_000_000_000n);
    await send(payer.usd, payee);
    await expectRoom(payee, most - coming);
  });

  test('from a payment whose money was pulled first: the completed pull no longer counts', async () => {
    const [payer, payee] = [await makeScene(t.platform, 0n), await makeScene(t.platform, 0n)];
    const { id } = await send(payer.outsideUsd, payee);
    const open = 'select kind from rail_order where transaction_id = $1 and due_at is not null';
    await untilRows(t, [{ kind: 'PAYOUT' }], open, uuidIn(id));
    await expectRoom(payee, most - coming);
  });
});
