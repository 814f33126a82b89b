import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuOf, type Server } from './measure.ts';
import type { Fact } from './report.ts';

/** How long to wait for the last delivery, in milliseconds. */
const patienceMs = 60_000;

/** Measures how fast all payment events after a cursor are replayed to an endpoint that accepts everything. */
export async function measureDeliveries(
  gateway: Server,
  headers: Readonly<Record<string, string>>,
  after: string,
): Promise<Fact[]> {
  const child = fork(path.join(import.meta.dirname, 'load/receiver.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const told = async <T>(message?: 'reset' | 'read'): Promise<T> => {
    const answer = once(child, 'message');
    if (message) child.send(message);
    return ((await answer) as [T])[0];
  };
  try {
    const { url } = await told<{ url: string }>();
    const { createWebhookEndpoint } = await ask<{ createWebhookEndpoint: { endpoint: { id: string } } }>(
      gateway,
      headers,
      'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { ... on CreateWebhookEndpointSuccess { endpoint { id } } ... on UserError { message } } }',
      { input: { url, eventTypes: ['OUTGOING_PAYMENT'] } },
    );
    const endpointId = createWebhookEndpoint.endpoint.id;
    while ((await told<{ received: number }>('read')).received === 0) await delay(50);
    await told('reset');
    const before = cpuOf(gateway.pid);
    const { replayWebhookEvents } = await ask<{ replayWebhookEvents: { count: number } }>(
      gateway,
      headers,
      'mutation ($input: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $input) { ... on ReplayWebhookEventsSuccess { count } ... on UserError { message } } }',
      { input: { endpointId, events: { between: { after } } } },
    );
    const wanted = replayWebhookEvents.count;
    const until = Date.now() + patienceMs;
    let seen = { received: 0, ms: 0 };
    while (seen.received < wanted && Date.now() < until) {
      await delay(50);
      seen = await told('read');
    }
    const used = before === undefined ? undefined : (cpuOf(gateway.pid) ?? before) - before;
    await ask(
      gateway,
      headers,
      'mutation ($input: DeleteWebhookEndpointInput!) { deleteWebhookEndpoint(input: $input) { __typename } }',
      { input: { endpointId } },
    );
    const cpu = used === undefined ? '' : `, CPU ${Math.round(used / Math.max(1, seen.received))} µs each`;
    return [
      {
        what: 'webhook deliveries to one endpoint',
        value: `${Math.round((seen.received * 1_000) / seen.ms)}/s (${seen.received} of ${wanted})${cpu}`,
      },
    ];
  } finally {
    child.kill();
  }
}

async function ask<Data>(
  gateway: Server,
  headers: Readonly<Record<string, string>>,
  query: string,
  variables = {},
): Promise<Data> {
  const response = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = (await response.json()) as { data: Data; errors?: { message: string }[] };
  const refused = Object.values(data ?? {}).find((one) => Object(one).message !== undefined);
  if (errors || refused) throw new Error(JSON.stringify(errors ?? refused));
  return data;
}

/** Returns the current end of the feed. */
export async function feedEnd(gateway: Server, headers: Readonly<Record<string, string>>): Promise<string> {
  return (await ask<{ viewer: { feedCursor: string } }>(gateway, headers, '{ viewer { feedCursor } }')).viewer
    .feedCursor;
}
