import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { RailTrial } from '../../src/rails/conformance/trial.ts';
import type { Rail } from '../../src/rails/rail.ts';
import type { RailDeposit, RailWebhook } from '../../src/rails/rail-parts.ts';

/** A mistake that a rail's author can make in handling money that arrives without an order. */
export type IncomingMistake = 'believes anybody' | 'takes anew' | 'lists all';

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const customerId = '0197f2a0-0000-7000-8000-000000000009';

/** Returns a webhook from a provider that signs like this service. */
export function signedWebhook(orderId: string, by = secret): RailWebhook {
  const [id, at, body] = [`message-${randomUUID()}`, new Date(), JSON.stringify({ order: orderId })];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  };
  return { headers, body: Buffer.from(body) };
}

/** Returns the trial of a rail, correct or with one mistake, whose provider sends webhooks and accepts deposits. */
export function incomingTrial(mistake?: IncomingMistake): RailTrial {
  const deposits: RailDeposit[] = [];
  const taken = new Map<string, { reference: string; amount: bigint }>();
  let losesAnswers = false;
  const rail: Rail = {
    name: 'incoming',
    async receiveWebhook({ headers, body }) {
      const id = String(headers['webhook-id']);
      if (mistake === 'believes anybody') return { id };
      try {
        new Webhook(secret).verify(Buffer.from(body), headers as Record<string, string>);
        return { id };
      } catch {
        return undefined;
      }
    },
    readWebhook: async (body) => [
      { kind: 'order', orderId: JSON.parse(Buffer.from(body).toString()).order, mayHaveReturned: false },
    ],
    deposits: async ({ from }) => ({ deposits: deposits.filter(({ at }) => mistake === 'lists all' || at >= from) }),
    async takeDeposit({ id, reference, amount }) {
      taken.set(mistake === 'takes anew' ? randomUUID() : id, { reference, amount });
      if (losesAnswers) throw new Error('socket hang up');
      return { kind: 'taken' };
    },
  };
  return {
    open: async () => rail,
    order: () => undefined,
    provider: {
      moved: async () => 0n,
      setFault: async (fault) => {
        losesAnswers = fault === 'loses-answers';
      },
    },
    incoming: {
      webhook: async (orderId) => signedWebhook(orderId),
      async deposit() {
        const deposit = { amount: 900n, currency: 'EUR', customerId };
        const about = { reference: randomUUID(), at: new Date(), state: 'SETTLED', heldAt: 'an account' } as const;
        deposits.push({ ...deposit, ...about });
        return deposit;
      },
      taken: async (reference) =>
        [...taken.values()].reduce((sum, one) => sum + (one.reference === reference ? one.amount : 0n), 0n),
    },
  };
}
