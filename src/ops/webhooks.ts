import { replay } from '../api/webhooks/endpoints/replay.ts';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { publicId } from '../core/ids.ts';
import { platformItself } from '../domain/access/platform-itself.ts';
import { platformNamed } from './platforms.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addWebhooks(program: Program): void {
  const webhook = program.command('webhook').description('the webhook endpoints of a platform');
  webhook
    .command('list')
    .description('list the endpoints of a platform and their pending deliveries')
    .argument('<platform>', 'the name of the platform')
    .action(withDatabase(list));
  actOf(webhook.command('replay'))
    .description('resend one event, or the events between two feed cursors, to an endpoint')
    .argument('<platform>', 'the name of the platform')
    .argument('<endpoint>', 'the id of the endpoint: WebhookEndpoint:…')
    .option('--event <id>', 'one event: Event:…')
    .option('--after <cursor>', 'events after this cursor')
    .option('--before <cursor>', 'events before this cursor')
    .action(withDatabase(replayEvents));
}

async function list({ database }: Tools, platform: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, platform);
  const endpoints = await database.prisma.webhookEndpoint.findMany({ where: { platformId }, orderBy: { id: 'asc' } });
  const rows = await Promise.all(
    endpoints.map(async ({ id, url, status, failures, tokenId, notice }) => ({
      id: publicId('WebhookEndpoint', id),
      url,
      tokenId: tokenId && publicId('ApiToken', tokenId),
      status,
      failures,
      pending: await database.prisma.webhookDelivery.count({
        where: { platformId, endpointId: id, status: 'PENDING' },
      }),
      notice,
    })),
  );
  return listed(rows, `The platform ${platform} has no endpoint.`);
}

interface Range extends Said {
  readonly event?: string;
  readonly after?: string;
  readonly before?: string;
}

async function replayEvents(
  { database, webhooks }: Tools,
  platform: string,
  endpointId: string,
  { event, after, before, ...said }: Range,
): Promise<Answer> {
  const operator = { ...operatorOf('webhook replay', said), subject: endpointId };
  const caller = platformItself(await platformNamed(database, platform), operator);
  const { count } = await replay(webhooks, caller, { endpointId, eventId: event, after, before }, undefined);
  return { data: { endpointId, count }, lines: [`${count} events will be sent to ${endpointId} again.`] };
}
