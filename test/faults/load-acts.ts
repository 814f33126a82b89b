import { usdToEur } from '../setup/acts.ts';
import type { Scene } from '../setup/scene.ts';
import type { Command } from './history.ts';
import type { Random } from './random.ts';

/** One thing that a client does. */
export type Act = (client: LoadClient) => Promise<unknown>;

/** A client, as its acts see it. */
export interface LoadClient {
  readonly scene: Scene;
  /** Its position among the clients. */
  readonly index: number;
  readonly random: Random;
  /** Makes a transfer. */
  transfer(operation: 'transferOut' | 'transferIn', input: object, expected: Expected): Promise<void>;
  /** Makes a quote, and executes it if it is acknowledged and was not executed at once. */
  quote(input: object, expected: Expected): Promise<void>;
}

/** What becomes of a payment: how it changes the account of the client, and its last status. */
export type Expected = Pick<Command, 'change' | 'ends'>;

const amount = 1_000n;
/** More than any account has. */
const tooMuch = 9_000_000_000_000_000n;

/** What clients of one installation do. */
export const usualActs: readonly Act[] = [
  ({ transfer, scene }) => transfer('transferOut', { ...outOf(scene), amount }, { change: -amount }),
  ({ transfer, scene: { usd, outsideUsd } }) =>
    transfer('transferIn', { sourceAccountId: outsideUsd, destinationAccountId: usd, amount }, { change: amount }),
  quoteOf,
  quoteOf,
  ({ transfer, scene }) => transfer('transferOut', { ...outOf(scene), amount: tooMuch }, { change: -tooMuch }),
];

function outOf({ usd, outsideUsd }: Scene) {
  return { sourceAccountId: usd, destinationAccountId: outsideUsd };
}

function quoteOf({ quote, scene }: LoadClient): Promise<void> {
  return quote(usdToEur(scene, { lockedCurrencyAmount: amount }), { change: -amount });
}
