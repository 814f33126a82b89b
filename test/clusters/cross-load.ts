import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../faults/random.ts';
import { lookUp, sender, umaAddressOf } from '../setup/acts.ts';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

/** A payment to the other cluster, as its client knows it in the end. */
export interface CrossPayment {
  readonly key: string;
  readonly transactionId: string;
  /** Whether the execution was acknowledged. The client gives up on none. */
  readonly acknowledged: boolean;
}

/** A client of one cluster, who pays a customer of the other. */
interface Client {
  readonly from: TestPlatform;
  readonly payer: Scene;
  readonly to: TestPlatform;
  readonly payee: Scene;
}

/** Clients that pay across clusters, and platforms that decide on what arrives. */
export interface CrossLoad {
  readonly payments: readonly CrossPayment[];
  readonly troubles: number;
  /** Waits until each client has ended the payment that it is at; the decisions go on. */
  stopPaying(): Promise<void>;
  stop(): Promise<void>;
}

const amount = 1_000n;

/** Starts the load: each client pays again and again, whatever fails, under keys of its own. */
export function startCrossLoad(clients: readonly Client[], seed: number): CrossLoad {
  const payments: CrossPayment[] = [];
  let [isPaying, isDeciding, troubles] = [true, true, 0];
  const insist = async <T>(work: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const done = await work().catch(() => undefined);
      if (done !== undefined) return done;
      troubles += 1;
      await delay(50);
    }
  };
  const pay = async ({ from, payer, to, payee }: Client, index: number) => {
    const umaAddress = await insist(() => umaAddressOf(to, payee.customerId));
    for (let count = 0; isPaying; count += 1) {
      const key = `cross-${index}-${count}`;
      const lookup = await insist(async () => {
        const found = await lookUp(from, umaAddress);
        return found.id ? found : undefined;
      });
      const input = {
        source: { account: { accountId: payer.usd } },
        destination: { uma: { umaAddress, currency: 'USD' } },
        ...{
          lookupId: lookup.id,
          lockedCurrencySide: 'SENDING',
          lockedCurrencyAmount: amount,
          senderCustomerInfo: sender,
        },
        description: key,
      };
      const selection = 'quote { id transaction { id } }';
      const made = await insist(() => command(from, 'createQuote', { ...input, idempotencyKey: key }, selection));
      await insist(() =>
        command(from, 'executeQuote', { quoteId: made.quote.id, idempotencyKey: `execute-${key}` }, selection),
      );
      payments.push({ key, transactionId: made.quote.transaction.id, acknowledged: true });
    }
  };
  const decide = async (platform: TestPlatform, random: Random) => {
    while (isDeciding) {
      const waiting = await platform
        .ask('{ transactions(first: 50, filter: { type: INCOMING, status: PENDING }) { edges { node { id } } } }')
        .catch(() => undefined);
      for (const { node } of waiting?.transactions.edges ?? []) {
        const operation = random.oneIn(8) ? 'rejectTransaction' : 'approveTransaction';
        await command(platform, operation, { transactionId: node.id }, '').catch(() => undefined);
      }
      await delay(50);
    }
  };
  const paying = Promise.all(clients.map(pay));
  const platforms = [...new Map(clients.map(({ to }) => [to.platformId, to])).values()];
  const deciding = Promise.all(platforms.map((platform, index) => decide(platform, new Random(seed + index))));
  return {
    payments,
    get troubles() {
      return troubles;
    },
    async stopPaying() {
      isPaying = false;
      await paying;
    },
    async stop() {
      isPaying = false;
      isDeciding = false;
      await Promise.all([paying, deciding]);
    },
  };
}

/** Sends a command. Undefined where its outcome is not known, or it is refused for now. */
async function command(
  platform: TestPlatform,
  name: 'createQuote' | 'executeQuote' | 'approveTransaction' | 'rejectTransaction',
  input: object,
  selection: string,
): Promise<Data> {
  const { data } = await platform.send(mutationDocument(name, selection), mutationVariables(name, input));
  const result = data?.[name];
  return result?.__typename.endsWith('Success') ? result : undefined;
}
