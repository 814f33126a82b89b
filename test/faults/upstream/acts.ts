import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { returnedAmount, slowAmount } from '../../rails/returning-rail.ts';
import { sender, usdToEur } from '../../setup/acts.ts';
import type { TestPlatform } from '../../setup/gateway.ts';
import type { Scene } from '../../setup/scene.ts';
import type { Client } from '../load.ts';
import type { Act, Expected } from '../load-acts.ts';

/** A client's scene, with its failing accounts and its upstream account. */
export interface Payer {
  readonly scene: Scene;
  /** The client's external USD accounts whose bank rejects payments in both directions. */
  readonly failing: readonly string[];
  /** The upstream account that receives the client's deposits. */
  readonly depositsTo: string;
}

export interface Ways {
  /** Undefined while no instance is up. */
  readonly platform: () => TestPlatform | undefined;
  /** Undefined while upstream is down. */
  readonly account: () => TestPlatform | undefined;
  readonly bank: string;
}

const completed = { change: 0n };
const failed = { change: 0n, ends: ['FAILED'] };
const rejected = { change: 0n, ends: ['REJECTED'] };
/** If the bank returns a payment before the gateway has seen its delivery, the payment counts as failed. */
const returned = { change: 0n, ends: ['REFUNDED', 'FAILED'] };

export function upstreamActs(payers: readonly Payer[], ways: Ways): readonly Act[] {
  const payerOf = ({ index }: Client): Payer => {
    const payer = payers[index];
    if (!payer) throw new Error('there is no such payer');
    return payer;
  };
  const amountOf = ({ random }: Client) => BigInt(1_000 + random.below(3_000));
  const out = (client: Client, amount: bigint) => ({
    ...{ sourceAccountId: client.scene.usd, destinationAccountId: client.scene.outsideUsd, amount },
  });
  const into = (client: Client, sourceAccountId: string) => ({
    ...{ sourceAccountId, destinationAccountId: client.scene.usd, amount: amountOf(client) },
  });
  const quoteOf = (client: Client, rest: object = {}) =>
    usdToEur(client.scene, { lockedCurrencyAmount: amountOf(client), ...rest });
  const transferOut: Act = (client) => client.transfer('transferOut', out(client, amountOf(client)), completed);
  const transferIn: Act = (client) => client.transfer('transferIn', into(client, client.scene.outsideUsd), completed);
  const lockedQuote: Act = (client) => client.quote(quoteOf(client), completed);
  const deposit: Act = (client) => payInto(ways, payerOf(client).depositsTo, amountOf(client));
  return [
    ...[transferOut, transferOut, transferIn, transferIn, lockedQuote, lockedQuote, lockedQuote, deposit, deposit],
    (client) => client.transfer('transferOut', out(client, slowAmount), completed),
    (client) => client.transfer('transferOut', out(client, returnedAmount), returned),
    (client) => {
      const destinationAccountId = client.random.oneOf(payerOf(client).failing);
      return client.transfer('transferOut', { ...out(client, amountOf(client)), destinationAccountId }, failed);
    },
    (client) => client.transfer('transferIn', into(client, client.random.oneOf(payerOf(client).failing)), failed),
    (client) => client.quote(quoteOf(client, { immediatelyExecute: true }), completed),
    // The money is pulled first, so the payment has two consecutive orders.
    (client) =>
      client.quote(
        quoteOf(client, { source: { account: { accountId: client.scene.outsideUsd } }, immediatelyExecute: true }),
        completed,
      ),
    (client) => payUma(ways, client, '$success.eur@sandbox.uma.money', completed),
    (client) => payUma(ways, client, '$fail.compliance.usd@sandbox.uma.money', rejected),
    // The destination is an internal account, but the money is converted upstream.
    (client) => client.quote(quoteOf(client, { destination: { account: { accountId: client.scene.eur } } }), completed),
  ];
}

/** Looks up a UMA address upstream and, if the lookup gets a response, makes a payment to it. */
async function payUma({ platform }: Ways, client: Client, umaAddress: string, expected: Expected): Promise<void> {
  const asking = platform();
  const lookup = asking && (await asking.lookUp(umaAddress).catch(() => undefined));
  if (!lookup?.id) return delay(20);
  const { code: currency } = lookup.supportedCurrencies[0].currency;
  await client.quote(
    {
      source: { account: { accountId: client.scene.usd } },
      destination: { uma: { umaAddress, currency } },
      ...{ lookupId: lookup.id, senderCustomerInfo: sender, lockedCurrencySide: 'SENDING' },
      lockedCurrencyAmount: 1_000 + client.random.below(3_000),
    },
    expected,
  );
}

/** Makes a deposit upstream, repeating the request until its outcome is known. */
async function payInto({ account, bank }: Ways, destinationAccountId: string, amount: bigint): Promise<void> {
  const input = { sourceAccountId: bank, destinationAccountId, amount, idempotencyKey: randomUUID() };
  for (;;) {
    const platform = account();
    const answered = platform && (await platform.act('transferIn', input).catch(() => undefined));
    if (answered && !unanswered.has(answered.code)) return;
    await delay(50);
  }
}

/** The codes after which the same request is sent again. */
const unanswered: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'CONFLICT']);
