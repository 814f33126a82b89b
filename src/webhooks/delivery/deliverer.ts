import type { Decision } from '../../payments/approvals/approvals.ts';
import type { SecretBox } from '../secret-box.ts';
import { loopbackAllowed, secretOwner, type Webhooks } from '../webhooks.ts';
import { applyDecision } from './apply-decision.ts';
import { decisionOf, isAnswer, isDeferral, overdueDecision } from './approval.ts';
import { webhookBody, webhookId } from './bodies.ts';
import {
  type LeasedDelivery,
  leaseDeliveries,
  noteHealth,
  releaseDelivery,
  type Standing,
  settleDelivery,
} from './deliveries.ts';
import { isDelivered, isGone, type Outcome, Sender } from './sender.ts';
import { signedHeaders } from './signing.ts';

/** How many attempts this process has under way at most. */
const maxUnderWay = 256;
/** How many are leased in one step. */
const batch = 64;
/** Without anything due, look again after so long: a pause may have ended. */
const idleMs = 250;
/** How long attempts under way may finish by themselves when the process stops. */
const graceMs = 2_000;

/** An attempt that was not made, and shows why. */
const unreadable: Outcome = {
  durationMs: 0,
  responseStatus: undefined,
  error: 'not sent: the signing secret cannot be read; rotate it',
  retryAfter: undefined,
  timedOut: false,
  answer: undefined,
};

/**
 * Attempts deliveries, many at once, each on its own: one that hangs holds up nothing but its own endpoint's share.
 */
export class Deliverer {
  readonly #webhooks: Webhooks;
  readonly #sender: Sender;
  readonly #underWay = new Set<Promise<void>>();
  /** Called when an attempt has ended, and there is room for another. */
  onRoom: () => void = () => undefined;

  constructor(webhooks: Webhooks) {
    this.#webhooks = webhooks;
    this.#sender = new Sender(webhooks.pace, webhooks.resolve);
  }

  /** Begins what is due and has room. @returns how many milliseconds to wait before the next step */
  async step(): Promise<number> {
    if (!this.#webhooks.box) return idleMs;
    const room = Math.min(batch, maxUnderWay - this.#underWay.size);
    if (room <= 0) return idleMs;
    const deliveries = await leaseDeliveries(this.#webhooks, room);
    for (const delivery of deliveries) {
      const attempt = this.#attempt(delivery)
        .catch((error: unknown) => {
          // Its lease ends by itself, and then it is attempted again.
          this.#webhooks.payments.log.error({ err: error, delivery: delivery.id }, 'a webhook could not be attempted');
        })
        .finally(() => {
          this.#underWay.delete(attempt);
          this.onRoom();
        });
      this.#underWay.add(attempt);
    }
    return deliveries.length >= room ? 0 : idleMs;
  }

  /** Lets attempts under way finish for a moment, then breaks them off and gives their deliveries back. */
  async stop(): Promise<void> {
    const finished = Promise.allSettled(this.#underWay);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([finished, grace]);
    clearTimeout(timer);
    await this.#sender.close();
    await Promise.allSettled(this.#underWay);
  }

  async #attempt(delivery: LeasedDelivery): Promise<void> {
    if (delivery.question && delivery.begun > 1) return this.#decideOverdue(delivery);
    const outcome = await this.#post(delivery);
    // Broken off by our own end, it says nothing about the receiver.
    if (this.#sender.closed && outcome.responseStatus === undefined) return releaseDelivery(this.#webhooks, delivery);
    await (delivery.question ? this.#settleQuestion(delivery, outcome) : this.#settle(delivery, outcome));
  }

  async #post(delivery: LeasedDelivery): Promise<Outcome> {
    const { box, pace } = this.#webhooks;
    if (!box) throw new Error('webhooks are not set up here');
    const secrets = this.#secretsOf(delivery, box);
    if (!secrets) return unreadable;
    const body = JSON.stringify(webhookBody(delivery.event, delivery));
    return this.#sender.post({
      url: delivery.url,
      loopbackAllowed: loopbackAllowed(this.#webhooks, delivery.environment),
      headers: signedHeaders({ id: webhookId(delivery.event), body, at: delivery.now }, secrets),
      body,
      timeoutMs: delivery.question ? pace.questionMs : pace.attemptMs,
      readAnswer: delivery.question,
    });
  }

  /** The secrets that sign now, or undefined when they were stored under another key than this process has. */
  #secretsOf(delivery: LeasedDelivery, box: SecretBox): string[] | undefined {
    const owner = secretOwner(delivery.platformId, delivery.endpointId);
    const sealed = delivery.previousSecret ? [delivery.secret, delivery.previousSecret] : [delivery.secret];
    try {
      return sealed.map((one) => box.open(one, owner));
    } catch (error) {
      this.#webhooks.payments.log.error(
        { err: error, endpoint: delivery.endpointId },
        'a signing secret cannot be read',
      );
      return undefined;
    }
  }

  async #settle(delivery: LeasedDelivery, outcome: Outcome): Promise<void> {
    const { responseStatus } = outcome;
    const delivered = responseStatus !== undefined && isDelivered(responseStatus);
    const gone = isGone(responseStatus);
    await settleDelivery(this.#webhooks, delivery, outcome, this.#standing(delivery, outcome, delivered, gone));
    await noteHealth(this.#webhooks, delivery, { healthy: delivered, gone, error: outcome.error ?? '' });
  }

  #standing(delivery: LeasedDelivery, outcome: Outcome, delivered: boolean, gone: boolean): Standing {
    if (delivered) return { status: 'DELIVERED' };
    const nextInMs = gone ? undefined : this.#webhooks.pace.nextInMs(delivery.tries + 1, outcome.retryAfter);
    return nextInMs === undefined ? { status: 'FAILED' } : { status: 'PENDING', nextInMs, failed: true };
  }

  /** The answer decides the payment, first of all: a process that dies after that has only its records to catch up on. */
  async #settleQuestion(delivery: LeasedDelivery, outcome: Outcome): Promise<void> {
    const { pace } = this.#webhooks;
    await this.#decide(delivery, decisionOf(outcome));
    const answered = isAnswer(outcome.responseStatus);
    const standing: Standing = isDeferral(outcome.responseStatus)
      ? { status: 'PENDING', nextInMs: Math.max(0, pace.questionMs - outcome.durationMs), failed: false }
      : { status: answered ? 'DELIVERED' : 'FAILED' };
    const attempt = answered ? { ...outcome, error: undefined } : outcome;
    await settleDelivery(this.#webhooks, delivery, attempt, standing);
    const gone = isGone(outcome.responseStatus);
    await noteHealth(this.#webhooks, delivery, { healthy: answered, gone, error: outcome.error ?? '' });
  }

  /** A question is put once: one that comes back was deferred, or its process died, and its time has passed. */
  async #decideOverdue(delivery: LeasedDelivery): Promise<void> {
    await this.#decide(delivery, overdueDecision(delivery.lastStatus));
    const deferred = isDeferral(delivery.lastStatus);
    await settleDelivery(this.#webhooks, delivery, undefined, { status: deferred ? 'DELIVERED' : 'FAILED' });
  }

  async #decide({ platformId, environment, event }: LeasedDelivery, decision: Decision | undefined): Promise<void> {
    if (!decision) return;
    if (event.transactionId === null) throw new Error('a question is about a transaction');
    await applyDecision(this.#webhooks.payments, { platformId, environment }, event.transactionId, decision);
  }
}
