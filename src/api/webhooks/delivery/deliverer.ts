import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { publicId } from '../../../core/ids.ts';
import { parseJson, withoutNulls } from '../../../core/json.ts';
import { Refusal } from '../../../core/refusal.ts';
import { canonicalText, longest, textFault } from '../../../core/texts.ts';
import { platformItself } from '../../../domain/access/platform-itself.ts';
import { type Decision, decideUnlessDecided } from '../../../domain/approvals/approvals.ts';
import { checkInformation } from '../../../domain/commands/information.ts';
import { deferApproval } from '../../../domain/orders/orders.ts';
import { rowFromSnapshot, trustedJson } from '../../../infra/database/rows.ts';
import { asRequest } from '../../../infra/instruments/request-facts.ts';
import { inSpan } from '../../../infra/instruments/spans.ts';
import { loopbackAllowed, requireBox, secretOwner, type Webhooks } from '../webhooks.ts';
import { webhookId, webhookText } from './bodies.ts';
import { type LeasedDelivery, leaseDeliveries, recordHealth, releaseDelivery, settleDelivery } from './deliveries.ts';
import { isDelivered, isGone, type Outcome, Sender, signedHeaders } from './sender.ts';

/** While this process runs this many attempts, it leases no more deliveries. */
const maxAttempts = 256;
/** The maximum number of deliveries leased per step. As many approval requests may be leased in addition. */
const batchSize = 64;
/** The pause when nothing is due, in milliseconds. */
const idleMs = 250;
/** How long running attempts may continue when the process stops, in milliseconds, before they are aborted. */
const graceMs = 2_000;

const unreadableSecret: Outcome = {
  durationMs: 0,
  error: 'not sent: the signing secret cannot be decrypted; rotate it',
};

/**
 * Creates the functions that attempt deliveries, many at a time. A slow delivery delays only other deliveries to the
 * same endpoint.
 * @param onAttemptEnd called when an attempt has ended and the next one can start
 */
export function createDeliverer(webhooks: Webhooks, onAttemptEnd: () => void) {
  const { payments, pace } = webhooks;
  const sender = new Sender(pace, webhooks.resolve);
  const attempts = new Set<Promise<void>>();
  return {
    /** Leases due deliveries and starts to attempt them. Returns the pause before the next step, in milliseconds. */
    async step(): Promise<number> {
      const capacity = Math.min(batchSize, maxAttempts - attempts.size);
      if (!webhooks.box || capacity <= 0) return idleMs;
      const deliveries = await leaseDeliveries(payments.database.pool, capacity, pace.leaseMs);
      for (const delivery of deliveries) {
        const running = inSpan('deliver webhook', { isRoot: true, attributes: attributesOf(delivery) }, () =>
          asRequest({ requestId: requestIdOf(delivery) }, () => attempt(webhooks, sender, delivery)),
        )
          .catch((error: unknown) => {
            payments.log.error(
              { err: error, delivery: delivery.id },
              'could not attempt a webhook delivery; it will be attempted again when its lease expires',
            );
          })
          .finally(() => {
            attempts.delete(running);
            onAttemptEnd();
          });
        attempts.add(running);
      }
      return deliveries.length >= capacity ? 0 : idleMs;
    },

    /** Waits briefly for running attempts, then aborts those still running and releases their deliveries. */
    async stop(): Promise<void> {
      const finished = Promise.allSettled(attempts);
      await Promise.race([finished, delay(graceMs, undefined, { ref: false })]);
      await sender.close();
      await Promise.allSettled(attempts);
    },
  };
}

async function attempt(webhooks: Webhooks, sender: Sender, delivery: LeasedDelivery): Promise<void> {
  // An approval request is sent only once. The process that sent this request died, so the response is unknown.
  if (delivery.question && delivery.begun > 1) {
    return settleDelivery(webhooks, delivery, undefined, { status: 'FAILED' });
  }
  const outcome = await post(webhooks, sender, delivery);
  logAttempt(webhooks, delivery, outcome);
  // An attempt aborted by the shutdown says nothing about the receiver.
  if (sender.closed && outcome.responseStatus === undefined) return releaseDelivery(webhooks, delivery);
  await settle(webhooks, delivery, outcome);
}

async function post(webhooks: Webhooks, sender: Sender, delivery: LeasedDelivery): Promise<Outcome> {
  const { pace, payments } = webhooks;
  const secrets = secretsOf(webhooks, delivery);
  if (!secrets) return unreadableSecret;
  const body = webhookText(payments.cursors, delivery.event, delivery);
  return sender.post({
    url: delivery.url,
    loopbackAllowed: loopbackAllowed(webhooks, delivery.environment),
    headers: {
      ...signedHeaders({ id: webhookId(delivery.event), body, at: delivery.now }, secrets),
      'x-request-id': requestIdOf(delivery),
    },
    body,
    timeoutMs: delivery.question ? Math.min(pace.attemptMs, questionMs(delivery)) : pace.attemptMs,
    readAnswer: delivery.question,
  });
}

/** Logs an attempt if `attemptLog` is set, with ids that the log line of the payment's request also contains. */
function logAttempt({ attemptLog }: Webhooks, delivery: LeasedDelivery, outcome: Outcome): void {
  if (!attemptLog) return;
  const { platformId: platform, endpointId, event } = delivery;
  const { responseStatus: status = null, durationMs: ms, error } = outcome;
  const about = { event: publicId('Event', event.id), endpoint: publicId('WebhookEndpoint', endpointId) };
  attemptLog.info({ platform, ...about, ...subjectsOf(event), status, ms, error }, 'webhook');
}

/** Decrypts the current secrets; returns undefined if they are encrypted with a key that this process lacks. */
function secretsOf(webhooks: Webhooks, delivery: LeasedDelivery): string[] | undefined {
  const { platformId, endpointId, secret, previousSecret } = delivery;
  const box = requireBox(webhooks);
  const owner = secretOwner(platformId, endpointId);
  try {
    return (previousSecret ? [secret, previousSecret] : [secret]).map((sealed) => box.open(sealed, owner));
  } catch (error) {
    webhooks.payments.log.error(
      { err: error, endpoint: endpointId },
      'a signing secret cannot be decrypted, so its webhooks are not sent: add its key to SECRET_KEY_FALLBACKS, or rotate it',
    );
    return undefined;
  }
}

async function settle(webhooks: Webhooks, delivery: LeasedDelivery, outcome: Outcome): Promise<void> {
  const { responseStatus: status, error = '' } = outcome;
  const { question } = delivery;
  if (question) await applyAnswer(webhooks, delivery, outcome);
  const healthy = status !== undefined && (question ? answering.has(status) : isDelivered(status));
  const gone = isGone(status);
  const isLast = healthy || gone || question;
  const nextInMs = isLast ? undefined : webhooks.pace.nextInMs(delivery.tries + 1, outcome.retryAfter);
  const state = healthy ? 'DELIVERED' : nextInMs === undefined ? 'FAILED' : 'PENDING';
  const recorded = question && healthy ? { ...outcome, error: undefined } : outcome;
  await settleDelivery(webhooks, delivery, recorded, { status: state, nextInMs });
  await recordHealth(webhooks, delivery, { healthy, gone, error });
}

/**
 * Applies the response to the payment before the delivery is recorded, so that only the record is missing if the
 * process dies in between. Does nothing if the payment has already been decided.
 */
async function applyAnswer({ payments }: Webhooks, delivery: LeasedDelivery, outcome: Outcome): Promise<void> {
  const { platformId, event } = delivery;
  const answer = questionAnswer(outcome, delivery.now);
  if (event.transactionId === null) throw new Error('an approval request needs a transaction');
  if (answer?.kind === 'defer') await deferApproval(payments.database.pool, platformId, event.transactionId);
  else if (answer) await decideUnlessDecided(payments, platformItself(delivery), event.transactionId, answer);
}

/** The minimum time given to a receiver to respond, in ms. A response after the payment's deadline has no effect. */
const leastQuestionMs = 1_000;

/** Returns how long a receiver may take to respond to an approval request, in ms: until the payment's deadline. */
function questionMs({ event, now }: LeasedDelivery): number {
  const { approvalDueAt } = rowFromSnapshot('Transaction', trustedJson<Record<string, unknown>>(event.snapshot));
  if (!approvalDueAt) throw new Error('an approval request needs a payment that awaits approval');
  return Math.max(leastQuestionMs, approvalDueAt.getTime() - now.getTime());
}

function requestIdOf({ id, begun }: LeasedDelivery): string {
  return `${publicId('WebhookDelivery', id)}:${begun}`;
}

/**
 * Returns the public ids of an event's objects. A payment's quote is included because the log line written when the
 * quote is executed contains the quote's id.
 */
function subjectsOf({ transactionId, snapshot, customerId }: LeasedDelivery['event']) {
  if (transactionId === null) return customerId === null ? {} : { customer: publicId('Customer', customerId) };
  const { quoteId } = rowFromSnapshot('Transaction', trustedJson<Record<string, unknown>>(snapshot));
  return { transaction: publicId('Transaction', transactionId), ...(quoteId && { quote: publicId('Quote', quoteId) }) };
}

function attributesOf({ id, platformId, endpointId, begun, event }: LeasedDelivery) {
  return {
    'payments.platform.id': platformId,
    'payments.webhook_delivery.id': publicId('WebhookDelivery', id),
    'payments.webhook_endpoint.id': publicId('WebhookEndpoint', endpointId),
    'payments.event.id': publicId('Event', event.id),
    'payments.webhook_delivery.attempt': begun,
  };
}

/** The statuses that leave the decision to a command. A 409 means that the platform already has the request. */
const deferring: ReadonlySet<number> = new Set([202, 409]);
const answering: ReadonlySet<number> = new Set([200, 202, 403, 409, 422]);

/** The reason for a rejection. A reason that cannot be stored is dropped, so that the rejection still counts. */
const reason = z
  .string()
  .transform(canonicalText)
  .refine((text) => textFault(text, longest.memo) === undefined)
  .optional()
  .catch(undefined);
const approval = z.object({ receiverCustomerInfo: z.record(z.string(), z.string()).optional() });
const rejection = z.object({ reason, message: reason });
const inquiry = z.object({ requiredFields: z.array(z.unknown()) });
const fieldName = /^[A-Za-z_]{1,64}$/;
/** The maximum length of the list of field names in a reason, in characters. */
const namesLength = 400;

type Reply = Decision | { readonly kind: 'defer' };

/**
 * Reads the response to an approval request: a decision, or `defer` if a command decides later. Returns undefined if
 * the request timed out. The payment then fails at its deadline.
 */
function questionAnswer({ responseStatus, timedOut, answer }: Outcome, now: Date): Reply | undefined {
  if (timedOut) return undefined;
  if (responseStatus !== undefined && deferring.has(responseStatus)) return { kind: 'defer' };
  const body = jsonOf(answer);
  switch (responseStatus) {
    case 200:
      return approvalOf(body, now);
    case 403: {
      const { data } = rejection.safeParse(body);
      return { kind: 'reject', reason: data?.reason ?? data?.message };
    }
    case 422: {
      const { requiredFields = [] } = inquiry.safeParse(body).data ?? {};
      const names = requiredFields.filter((field) => typeof field === 'string' && fieldName.test(field));
      const fields = names.join(', ').slice(0, namesLength);
      const needs = 'the platform needs more information about the sender';
      return { kind: 'reject', reason: fields ? `${needs}: ${fields}` : needs };
    }
    default:
      return webhookError;
  }
}

/** Reads an approval. Unreadable or unacceptable details are an error, because money must not move on a guess. */
function approvalOf(body: unknown, now: Date): Decision {
  const parsed = approval.safeParse(withoutNulls(body ?? {}));
  if (!parsed.success) return webhookError;
  const info = Object.entries(parsed.data.receiverCustomerInfo ?? {}).map(([name, value]) => ({ name, value }));
  try {
    checkInformation(info, ['receiverCustomerInfo'], now);
  } catch (error) {
    if (error instanceof Refusal) return webhookError;
    throw error;
  }
  return { kind: 'approve', receiverCustomerInfo: info };
}

const webhookError: Decision = {
  kind: 'webhook-error',
  explanation: "the platform's answer to the approval request was an error",
};

/** Parses the body of a response. If parsing fails, returns the string itself, which matches no schema. */
function jsonOf(answer: string | undefined): unknown {
  if (answer === undefined || answer.trim() === '') return undefined;
  try {
    return parseJson(answer);
  } catch {
    return answer;
  }
}
