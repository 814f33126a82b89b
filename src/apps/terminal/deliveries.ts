import { InvalidArgumentError } from 'commander';
import { Deliveries, Replay, Resend, WebhookBody, type WebhookDeliveryStatus } from '../client/generated/operations.ts';
import { Failure, tableOf } from './answer.ts';
import { newKey, type Work } from './command.ts';
import { post, secretOf, targetOf } from './listen.ts';
import type { Service } from './service.ts';

interface LogsOptions {
  readonly last: number;
  readonly status?: WebhookDeliveryStatus[];
  readonly endpoint?: string;
}

/** Prints the deliveries to the webhook endpoints, and how the endpoints responded. */
export const logs: Work<[LogsOptions]> = async ({ service }, { last, status, endpoint }) => {
  const { webhookEndpoints } = await service.execute(Deliveries, { first: last, filter: status ? { status } : null });
  const endpoints = webhookEndpoints.edges
    .map(({ node }) => node)
    .filter(({ id }) => endpoint === undefined || id === endpoint);
  const [first] = endpoints;
  if (!first) throw new Failure(endpoint === undefined ? noEndpoint : `There is no ${endpoint}.`);
  const rows = endpoints
    .flatMap(({ url, deliveries }) => deliveries.edges.map(({ node }) => ({ url, ...node })))
    .sort((a, b) => b.event.occurredAt.localeCompare(a.event.occurredAt))
    .slice(0, last)
    .reverse();
  const table = rows.map(({ id, url, event, attempts, nextAttemptAt, ...delivery }) => {
    const latest = attempts.at(-1);
    return {
      occurredAt: event.occurredAt,
      event: event.type,
      delivery: id,
      url,
      status: delivery.status,
      attempts: attempts.length,
      answer: latest?.responseStatus,
      ms: latest?.durationMs,
      error: latest?.error,
      nextAttemptAt,
    };
  });
  const none = status ? `No delivery is ${status.join(' or ')}.` : 'Nothing was sent.';
  return { data: rows, lines: tableOf(table, none) };
};

const noEndpoint =
  'This platform has no webhook endpoint. Create one with createWebhookEndpoint, or use `listen`, which needs none.';

interface ResendOptions {
  readonly to?: string;
  readonly endpoint?: string;
}

/** Resends a delivery, or an event's webhook, to its endpoint or to a program on this machine. */
export const resend: Work<[string, ResendOptions]> = async (job, id, { to, endpoint }) => {
  const { service, screen, json } = job;
  const [type, uuid] = id.split(':');
  if (type === 'WebhookDelivery') {
    if (to !== undefined)
      throw new InvalidArgumentError(
        '--to needs an Event:… or a Webhook:…; `logs --json` shows each delivery’s event.',
      );
    const { delivery } = await service.mutate(Resend, { deliveryId: id, key: newKey() });
    return { data: delivery, lines: [`${delivery.id} is being sent again. \`logs\` shows the attempt.`] };
  }
  if (type !== 'Event' && type !== 'Webhook')
    throw new InvalidArgumentError(`${id} cannot be sent again: name a WebhookDelivery:…, an Event:… or a Webhook:….`);
  if (to !== undefined) {
    const target = targetOf(to);
    const event = await eventOf(service, `Event:${uuid}`);
    const { secret, isNew } = secretOf(job);
    if (isNew && !json) screen.out(`The webhook is signed with a new secret: ${secret}`);
    return { exitCode: (await post(job, target, secret, event)) ? 0 : 1 };
  }
  const endpointId = endpoint ?? (await onlyEndpoint(service));
  const { count } = await service.mutate(Replay, { endpointId, eventId: `Event:${uuid}`, key: newKey() });
  return { data: { endpointId, count }, lines: [`Event:${uuid} is being sent to ${endpointId} again.`] };
};

async function eventOf(service: Service, id: string) {
  const { node } = await service.execute(WebhookBody, { id });
  if (!node || !('webhookBody' in node)) throw new Failure(`There is no ${id}.`);
  const { type, webhookBody } = node;
  if (webhookBody === null) throw new Failure(`${id} has the type ${type}, for which no webhooks are sent.`);
  return { id, type, webhookBody };
}

/** Returns the platform's only endpoint. Throws a Failure if there are several, or none. */
export async function onlyEndpoint(service: Service): Promise<string> {
  const { webhookEndpoints } = await service.execute(Deliveries, { first: 1 });
  const endpoints = webhookEndpoints.edges.map(({ node: { id, url, status } }) => ({ id, url, status }));
  const [first, second] = endpoints;
  if (!first) throw new Failure(noEndpoint);
  if (second)
    throw new Failure(
      [
        'There are several endpoints. Name one with --endpoint:',
        ...tableOf(endpoints, '').map((line) => `  ${line}`),
      ].join('\n'),
    );
  return first.id;
}
