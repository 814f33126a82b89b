import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { actOn, ended, quote } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

// Money that is on its way to an account counts in its bound, once, whatever way it takes.

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

/** The most that an account may hold, and an amount that is on its way. */
const most = 9_000_000_000_000_000n;
const coming = 4_000_000_000_000_000n;
const late = { sandboxScenario: { delayMs: 3_600_000 } };

/** Begins to bring money in, and answers its payment or the refusal. */
async function bringIn(scene: Scene, amount: bigint, rest: object = late): Promise<Data> {
  const accounts = { sourceAccountId: scene.outsideUsd, destinationAccountId: scene.usd };
  const made = await actOn(t.platform, 'transferIn', { ...accounts, amount, ...rest });
  return made.transaction ?? made;
}

/** Lets so much be on its way from an account of the payer to the payee, and answers the payment. */
async function send(accountId: string, to: Scene): Promise<Data> {
  const made = await quote(t.platform, {
    source: { account: { accountId } },
    destination: { account: { accountId: to.usd } },
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: coming,
    immediatelyExecute: true,
    ...late,
  });
  expect(made.code).toBeUndefined();
  return made.transaction;
}

async function expectRoom(payee: Scene, room: bigint): Promise<void> {
  expect(await bringIn(payee, room + 1n)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE', path: ['input', 'amount'] });
  expect(await bringIn(payee, room)).toMatchObject({ status: 'PENDING' });
  // An amount of a tenth of the bound and less is not looked at: it is refused when it comes.
  expect(await bringIn(payee, most / 10n + 1n)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
}

describe('an account to which money is on its way has room for the rest, to the last unit', () => {
  test('of a transfer that is PENDING', async () => {
    const payee = await makeScene(t.platform, 0n);
    expect(await bringIn(payee, coming)).toMatchObject({ status: 'PENDING' });
    await expectRoom(payee, most - coming);
  });

  test('of a payment that is PROCESSING', async () => {
    const [payer, payee] = [await makeScene(t.platform, 0n), await makeScene(t.platform, 0n)];
    await ended(t.platform, (await bringIn(payer, 5_000_000_000_000_000n, {})).id);
    await send(payer.usd, payee);
    await expectRoom(payee, most - coming);
  });

  test('of a payment whose money was pulled first: the order that is done counts no more', async () => {
    const [payer, payee] = [await makeScene(t.platform, 0n), await makeScene(t.platform, 0n)];
    const { id } = await send(payer.outsideUsd, payee);
    await vi.waitFor(async () => {
      const { rows } = await t.owner.query(
        'select kind from rail_order where transaction_id = $1 and due_at is not null',
        [id.split(':')[1]],
      );
      expect(rows).toEqual([{ kind: 'PAYOUT' }]);
    }, 20_000);
    await expectRoom(payee, most - coming);
  });
});
