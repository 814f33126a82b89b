import type { Rail, RailOrder, RailOutcome } from '../../src/rails/rail.ts';
import type { LockAnswer, LockRequest, RailMovement } from '../../src/rails/rail-parts.ts';

/** How much more a provider moves than was ordered (negative for less), in the currency's smallest unit. */
export interface Deviation {
  /** For the debit of a payout. */
  readonly taken: bigint;
  /** For money that arrives. */
  readonly arrived: bigint;
}

/** A provider with its own ledger that moves amounts different from those ordered. It locks rates of 2:1. */
export class DeviatingProvider {
  /** The platform's balances at the provider, by currency. */
  readonly held = new Map<string, bigint>();
  deviation: Deviation = { taken: 0n, arrived: 0n };
  /** By currency, the moved amounts minus the ordered amounts. Debits are negative. */
  readonly beyond = new Map<string, bigint>();
  /** Whether the provider omits the moved amounts from its reports. */
  isSilent = false;
  /** Whether the provider is unreachable. */
  isAway = false;
  readonly #moved = new Map<string, { readonly movement: RailMovement; readonly outcome: RailOutcome }>();
  /** The currencies of each lock. */
  readonly #locks = new Map<string, readonly [sending: string, receiving: string]>();

  /** Returns the parts of the rail that override the sandbox's. */
  parts(): Rail {
    const perform = async (order: RailOrder) => this.#perform(order);
    return {
      name: 'deviating',
      payOut: perform,
      collect: perform,
      findOrder: async ({ id }) => this.#answer(this.#moved.get(id)?.outcome),
      lockRate: async (request) => this.#lock(request),
      movements: async () => ({ movements: [...this.#moved.values()].map(({ movement }) => movement) }),
      balances: async () => new Map(this.held),
    };
  }

  #answer<Outcome>(outcome: Outcome): Outcome {
    if (this.isAway) throw new Error('connect ECONNREFUSED');
    return outcome;
  }

  #lock({ id, amount, lockedSide, sending, receiving }: LockRequest): LockAnswer {
    const [sent, received] = lockedSide === 'SENDING' ? [amount, amount / 2n] : [amount * 2n, amount];
    this.#locks.set(`lock ${id}`, [sending.code, receiving.code]);
    return { kind: 'locked', lock: { reference: `lock ${id}`, sent, received, rate: '2', fees: 0n }, validMs: 60_000 };
  }

  #perform(order: RailOrder): RailOutcome {
    const known = this.#moved.get(order.id);
    if (known) return this.#answer(known.outcome);
    // A payment within this installation moves no money at the provider.
    if (!order.account && !order.lock) return { kind: 'settled' };
    const [paidIn, arrivesIn] = this.#locks.get(order.lock?.reference ?? '') ?? [order.currency, order.currency];
    const taken = (order.lock?.sent ?? order.amount) + this.deviation.taken;
    const arrived = order.amount + this.deviation.arrived;
    if (order.kind === 'PAYOUT') this.#hold(paidIn, -taken, -this.deviation.taken);
    if (order.kind === 'COLLECTION' || !order.account) this.#hold(arrivesIn, arrived, this.deviation.arrived);
    const isIn = order.kind === 'COLLECTION';
    const movement: RailMovement = {
      ...{ orderId: order.id, reference: `payment of ${order.id}`, state: 'SETTLED', at: new Date() },
      ...(isIn ? { amount: arrived, currency: arrivesIn } : { amount: taken, currency: paidIn }),
      direction: isIn ? 'IN' : 'OUT',
    };
    const named = isIn ? { amount: arrived } : { amount: arrived, sent: taken };
    const outcome: RailOutcome = { kind: 'settled', ...(this.isSilent ? {} : named) };
    this.#moved.set(order.id, { movement, outcome });
    return this.#answer(outcome);
  }

  #hold(currency: string, change: bigint, beyond: bigint): void {
    this.held.set(currency, (this.held.get(currency) ?? 0n) + change);
    this.beyond.set(currency, (this.beyond.get(currency) ?? 0n) + beyond);
  }
}
