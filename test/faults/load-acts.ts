import { usdToEur } from '../setup/acts.ts';
import { timeZoneAtNoon } from '../setup/passing-time.ts';
import type { Scene } from '../setup/scene.ts';
import type { Command } from './history.ts';
import type { Client } from './load.ts';

/** An action of a load client. */
export type Act = (client: Client) => Promise<unknown>;

/** The expected result of a payment: the change in the client's balance, and the possible final statuses. */
export type Expected = Pick<Command, 'change' | 'ends'>;

/** The amount of each payment, in the currency's smallest unit. */
export const amount = 1_000n;
/** More than any account has. */
const tooMuch = 9_000_000_000_000_000n;

export const usualActs: readonly Act[] = [
  ({ transfer, scene }) => transfer('transferOut', { ...outOf(scene), amount }, { change: -amount }),
  ({ transfer, scene: { usd, outsideUsd } }) =>
    transfer('transferIn', { sourceAccountId: outsideUsd, destinationAccountId: usd, amount }, { change: amount }),
  (client) => quoteOf(client),
  (client) => quoteOf(client),
  ({ transfer, scene }) => transfer('transferOut', { ...outOf(scene), amount: tooMuch }, { change: -tooMuch }),
];

/** Payments that fail after a while. They count against a policy's limit only until then. */
const failing: readonly Act[] = [
  ({ transfer, scene }) =>
    transfer('transferOut', { ...outOf(scene), amount, sandboxScenario: failsLater }, { change: 0n, ends: ['FAILED'] }),
  (client) => quoteOf(client, ['FAILED'], { sandboxScenario: failsLater }),
];

const failsLater = { failureReason: 'OFFRAMP_FAILED', delayMs: 500 };

/** Payments that a policy holds for approval. Most are approved at once, some are rejected, and some expire. */
const held: readonly Act[] = [
  async (client) => decide(client, await client.transfer('transferOut', { ...outOf(client.scene), amount }, ofHeld)),
  async (client) => decide(client, await quoteOf(client, ofHeld.ends)),
];

const ofHeld = { change: -amount, ends: ['COMPLETED', 'REJECTED', 'EXPIRED'] };

async function decide({ decide, random }: Client, transactionId: string | undefined): Promise<void> {
  if (transactionId === undefined || random.oneIn(10)) return;
  await decide(random.oneIn(4) ? 'rejectTransaction' : 'approveTransaction', transactionId);
}

export interface Limited {
  readonly policy: object;
  readonly acts: readonly Act[];
}

const today = (payments: number) => ({
  timeZone: timeZoneAtNoon(),
  limits: [
    { period: 'DAY', payments },
    { period: 'DAY', currency: 'USD', amount: { units: 1_000_000_000 } },
  ],
});

/** Returns a client's acts and policy: one with a low limit, one that requires approval, or one with a high limit. */
export function limitedAs(position: number): Limited {
  if (position === 0) return { policy: today(2), acts: failing };
  if (position === 1) return { policy: { ...today(1_000_000), approval: { always: true } }, acts: held };
  return { policy: today(1_000_000), acts: usualActs };
}

function outOf({ usd, outsideUsd }: Scene) {
  return { sourceAccountId: usd, destinationAccountId: outsideUsd };
}

function quoteOf(
  { quote, scene }: Client,
  ends: readonly string[] = ['COMPLETED'],
  rest: object = {},
): Promise<string | undefined> {
  return quote(usdToEur(scene, { lockedCurrencyAmount: amount, ...rest }), { change: -amount, ends });
}
