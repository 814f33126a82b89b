import { randomBytes } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { Webhook } from 'standardwebhooks';
import { WebhookBodies, type WebhookBodiesSubscription } from '../client/generated/operations.ts';
import { Failure, timeOfDay } from './answer.ts';
import { eventTypeOf, type Job, type Work } from './command.ts';
import { causeOf, isWebAddress } from './service.ts';

export interface ListenOptions {
  readonly after?: string;
  readonly type?: readonly string[];
}

type Posted = Pick<WebhookBodiesSubscription['events'], 'id' | 'type'> & { readonly webhookBody: string };

/** The time that a receiver has to respond, in milliseconds: the same as for the service's own webhooks. */
const timeoutMs = 15_000;

/** Signs each webhook and posts it once, in feed order, to a program on this machine. Runs until stopped. */
export const listen: Work<[string, ListenOptions]> = async (job, to, { after, type }) => {
  const { service, screen, json, signal } = job;
  const target = targetOf(to);
  const { secret, isNew } = secretOf(job);
  const begin = after ?? (await service.whoami()).feedCursor;
  if (json) screen.out(JSON.stringify({ target: target.href, ...(isNew && { secret }) }));
  else {
    screen.out(`Webhooks from ${service.origin} go to ${target.href}. Press Ctrl-C to stop.`);
    screen.out(
      isNew ? `They are signed with the secret of this session: ${secret}` : 'They are signed with WEBHOOK_SECRET.',
    );
  }
  let posted = begin;
  let posting = Promise.resolve();
  const filter = type && { types: type.map(eventTypeOf) };
  const onMessage = ({ events: { webhookBody, cursor, ...event } }: WebhookBodiesSubscription) => {
    posting = posting.then(async () => {
      if (signal.aborted) return;
      if (webhookBody !== null) await post(job, target, secret, { ...event, webhookBody });
      posted = cursor;
    });
  };
  await service.follow(WebhookBodies, { filter: filter ?? null }, onMessage, begin);
  await posting;
  if (!json) screen.err(`\nTo continue: listen ${to} --after ${posted}`);
  return {};
};

/** Signs and posts a webhook, and prints the outcome. @returns whether the receiver accepted it */
export async function post(
  { screen, json, signal }: Job,
  target: URL,
  secret: string,
  { id, type, webhookBody }: Posted,
): Promise<boolean> {
  const { webhookId } = JSON.parse(webhookBody) as { readonly webhookId: string };
  const at = new Date();
  const outcome = await fetch(target, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(webhookId, at, webhookBody),
    },
    body: webhookBody,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return { status: response.status };
    },
    (error: unknown) => ({ error: reasonOf(error) }),
  );
  const isTaken = 'status' in outcome && ((outcome.status >= 200 && outcome.status < 300) || outcome.status === 409);
  const durationMs = Date.now() - at.getTime();
  if (json) screen.out(JSON.stringify({ eventId: id, type, ...outcome, durationMs }));
  else {
    const result = 'status' in outcome ? String(outcome.status) : outcome.error;
    screen.out(`${timeOfDay(at.toISOString())}  ${type.padEnd(16)}  ${id}  ${result}  ${durationMs} ms`);
  }
  return isTaken;
}

/** Returns the address for a port, a port with a path, or a URL. Throws an InvalidArgumentError for anything else. */
export function targetOf(to: string): URL {
  const text = /^[1-9]\d*(\/|$)/.test(to) ? `http://127.0.0.1:${to}` : to;
  if (!isWebAddress(text))
    throw new InvalidArgumentError(`${to} is not a receiver: write 3000, 3000/webhooks, or a URL.`);
  return new URL(text);
}

/** Returns the signing secret: WEBHOOK_SECRET, or a new one in the format of Standard Webhooks. */
export function secretOf({ screen }: Job): { readonly secret: string; readonly isNew: boolean } {
  const { WEBHOOK_SECRET: secret } = screen.environment;
  if (secret === undefined) return { secret: `whsec_${randomBytes(32).toString('base64')}`, isNew: true };
  if (!/^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret))
    throw new Failure('WEBHOOK_SECRET is not a signing secret: it must begin with whsec_.');
  return { secret, isNew: false };
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  if (cause.name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`;
  return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'nothing is listening there' : cause.message;
}
