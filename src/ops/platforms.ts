import { InvalidArgumentError, Option } from 'commander';
import { replay } from '../api/webhooks/endpoints/replay.ts';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import type { Tenant } from '../core/tenant.ts';
import { platformItself } from '../domain/access/platform-itself.ts';
import { formatRate, parseRate, type Rate, type RateChanges } from '../domain/access/rates.ts';
import { basicAuthorization } from '../domain/access/tokens/credentials.ts';
import { issueApiToken } from '../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken } from '../domain/access/tokens/revoke-tokens.ts';
import type { LimitState } from '../domain/ledger/commit.ts';
import { changeRates, createPlatform, findPlatform, giveUmaDomain } from '../domain/platforms/platforms.ts';
import { limitsOfPolicies, type StoredApproval } from '../domain/policies/policies.ts';
import type { Database } from '../infra/database/database.ts';
import { Permission } from '../infra/database/generated/client/client.ts';
import { trustedJson } from '../infra/database/rows.ts';
import { type Acting, addAct, addCommand, ofPlatform, type Tools } from './tools.ts';

export function addPlatforms(program: Program): void {
  const platform = program.command('platform').description('the platforms of this installation');
  const [, namePlatform] = ofPlatform;
  addCommand(platform, 'list', listPlatforms).description('list all platforms');
  addAct(platform, 'create', create)
    .description('create a platform and print its first API token, which is shown only once')
    .argument('<name>', 'the name of the platform; it must be unique')
    .option('--sandbox', "simulate the platform's payments");
  addAct(platform, 'domain', giveDomain)
    .description(
      'set the UMA domain in which new customers of a platform get their addresses; first check that the platform owns it',
    )
    .argument('<name>', namePlatform)
    .argument('<domain>', 'the domain name, such as pay.example.com; it is then reserved for the platform');
  addAct(platform, 'limits', limits)
    .description('show or change how many requests a platform may send')
    .argument('<name>', namePlatform)
    .option('--platform <rate>', 'in total', rateIn)
    .option('--api-token <rate>', 'with each of its API tokens', rateIn)
    .option('--client-token <rate>', 'with each of its client tokens', rateIn)
    .addHelpText(
      'after',
      '\nA rate is written as requests per second/burst, such as 100/500. "default" is the value in the settings.',
    );
}

/** Returns the platform with the given name. @throws Failure */
export async function platformNamed(database: Database, name: string): Promise<Tenant> {
  const platform = await findPlatform(database, name);
  if (!platform) throw new Failure(`There is no platform named ${JSON.stringify(name)}.`);
  return platform;
}

function rateIn(text: string): Rate | null {
  if (text === 'default') return null;
  const rate = parseRate(text);
  if (!rate) throw new InvalidArgumentError(`${text} is not a rate.`);
  return rate;
}

async function listPlatforms({ database }: Tools): Promise<Answer> {
  const platforms = await database.prisma.platform.findMany({ orderBy: { name: 'asc' } });
  const rows = platforms.map(({ id, name, environment, umaDomain, createdAt }) => {
    return { name, environment, id: publicId('Platform', id), umaDomain, createdAt };
  });
  return listed(rows, 'There is no platform yet.');
}

async function create({ payments, operator }: Acting, name: string, { sandbox }: { readonly sandbox?: true }) {
  const environment = sandbox ? 'SANDBOX' : 'PRODUCTION';
  const { clientId, secret, platformId } = await createPlatform(payments, { name, environment, operator });
  const id = publicId('Platform', platformId);
  return secretOnce({ id, name, environment }, `Platform ${name} (${environment}), ${id}`, { clientId, secret });
}

/** Shows a new token's credentials. Its secret is never shown again. */
function secretOnce(about: object, head: string, credentials: { clientId: string; secret: string }): Answer {
  const authorization = basicAuthorization(credentials);
  const { clientId, secret } = credentials;
  return {
    data: { ...about, clientId, secret, authorization },
    lines: [
      head,
      '',
      `  clientId       ${clientId}`,
      `  secret         ${secret}`,
      `  Authorization  ${authorization}`,
      '',
      'The secret is shown only here and is not stored.',
    ],
  };
}

async function giveDomain({ database, operator }: Acting, name: string, written: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const umaDomain = await giveUmaDomain(database, platformId, operator, written);
  return {
    data: { id: publicId('Platform', platformId), name, umaDomain },
    lines: [`New customers of ${name} get their UMA addresses in ${umaDomain}.`],
  };
}

async function limits({ database, config, operator }: Acting, name: string, given: RateChanges): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const own = await changeRates(database, platformId, operator, given);
  const row = (rate: Rate | null, setting: Rate | null) =>
    rate ? formatRate(rate) : `${setting ? formatRate(setting) : 'off'} (from the settings)`;
  return {
    data: own,
    lines: [
      `Rate limits of platform ${name}, as requests per second/burst:`,
      '',
      `  in total           ${row(own.platform, config.RATE_LIMIT_PLATFORM)}`,
      `  each API token     ${row(own.apiToken, config.RATE_LIMIT_API_TOKEN)}`,
      `  each client token  ${row(own.clientToken, config.RATE_LIMIT_CLIENT_TOKEN)}`,
    ],
  };
}

export function addTokens(program: Program): void {
  const token = program.command('token').description('the API tokens of a platform');
  addCommand(token, 'list', listTokens)
    .description("list a platform's API tokens that have not been revoked")
    .argument(...ofPlatform);
  addAct(token, 'issue', issueToken)
    .description('create a token and print its secret, once')
    .argument(...ofPlatform)
    .requiredOption('--name <name>', 'what the token is for')
    .addOption(
      new Option('--permissions <permission...>', 'its permissions')
        .choices(Object.values(Permission))
        .makeOptionMandatory(),
    );
  addAct(token, 'revoke', revokeToken)
    .description(
      'revoke a token, with all tokens and webhook endpoints that it created; the last token with MANAGE cannot be revoked',
    )
    .argument(...ofPlatform)
    .argument('<token>', 'its id: ApiToken:…')
    .option('--keep-descendants', 'keep the tokens and webhook endpoints that it created');
}

async function listTokens({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const where = { platformId, revokedAt: null };
  const tokens = await database.prisma.apiToken.findMany({ where, orderBy: { id: 'asc' } });
  const rows = tokens.map((token) => ({
    id: publicId('ApiToken', token.id),
    name: token.name,
    permissions: token.permissions,
    clientId: token.clientId,
    createdAt: token.createdAt,
    createdById: token.createdById && publicId('ApiToken', token.createdById),
    lastUsedAt: token.lastUsedAt,
  }));
  return listed(rows, `The platform ${name} has no token.`);
}

interface NewToken {
  readonly name: string;
  readonly permissions: Permission[];
}

async function issueToken({ payments, operator }: Acting, platform: string, { name, permissions }: NewToken) {
  const caller = platformItself(await platformNamed(payments.database, platform), {
    ...operator,
    after: { name, permissions },
  });
  const { apiToken, secret } = await issueApiToken(payments.database, caller, { name, permissions });
  const id = publicId('ApiToken', apiToken.id);
  const about = { id, name, permissions: apiToken.permissions };
  return secretOnce(about, `${id} of the platform ${platform}`, { clientId: apiToken.clientId, secret });
}

async function revokeToken(
  { database, operator }: Acting,
  platform: string,
  tokenId: string,
  { keepDescendants = false }: { readonly keepDescendants?: boolean },
): Promise<Answer> {
  const caller = platformItself(await platformNamed(database, platform), operator);
  const ended = await revokeApiToken(database, caller, { tokenId, revokeDescendants: !keepDescendants });
  const { endedApiTokens, endedClientTokens, disabledEndpoints } = ended;
  return {
    data: { revokedId: tokenId, endedApiTokens, endedClientTokens, disabledEndpoints },
    lines: [
      `${tokenId} is revoked, with ${endedApiTokens} API tokens, ${endedClientTokens} client tokens and ${disabledEndpoints} webhook endpoints that it created.`,
    ],
  };
}

export function addPolicies(program: Program): void {
  const policy = program.command('policy').description("a platform's policies, and the payments that they hold");
  addCommand(policy, 'list', listPolicies)
    .description("list a platform's policies, and how much of each limit is left")
    .argument(...ofPlatform);
  addCommand(policy, 'held', listHeld)
    .description("list a platform's payments that await approval by a second person, oldest first")
    .argument(...ofPlatform);
}

async function listPolicies({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const policies = await database.prisma.policy.findMany({ where: { platformId }, orderBy: { id: 'asc' } });
  const limits = await limitsOfPolicies(database, platformId);
  const rows = policies.map((policy) => ({
    subject: `${policy.subjectType}:${policy.subjectId}`,
    left: (limits.get(policy.id) ?? []).map(leftOf),
    kinds: policy.kinds,
    receivers: [...policy.receiverAccountIds, ...policy.receiverCountries, ...policy.receiverUmaAddresses],
    hours: policy.hoursFrom === null ? null : `${policy.hoursFrom}-${policy.hoursTo}`,
    timeZone: policy.timeZone,
    approval: approvalOf(trustedJson<StoredApproval | null>(policy.approval)),
    updatedAt: policy.updatedAt,
  }));
  return listed(rows, `The platform ${name} has no policy.`);
}

function leftOf({ period, currency, amount, leftAmount, payments, leftPayments }: LimitState): string {
  return currency === null
    ? `${period} ${leftPayments} of ${payments} payments`
    : `${period} ${major(leftAmount, currency)} of ${major(amount, currency)}`;
}

const major = (digits: string | bigint | null, currency: string | null) =>
  formatMajor(BigInt(digits ?? 0), requiredCurrency(currency ?? ''));

function approvalOf(approval: StoredApproval | null): string[] {
  if (!approval) return [];
  return [
    ...(approval.always ? ['always'] : []),
    ...approval.above.map(({ amount, currency }) => `above ${major(amount, currency)}`),
    ...(approval.newReceivers ? ['new receivers'] : []),
  ];
}

async function listHeld({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const payments = await database.prisma.transaction.findMany({
    where: { platformId, status: 'CREATED', approvalDueAt: { not: null } },
    orderBy: { id: 'asc' },
  });
  const rows = payments.map((payment) => ({
    transaction: publicId('Transaction', payment.id),
    amount: major(payment.sentAmount, payment.sentCurrency),
    customer: payment.customerId && publicId('Customer', payment.customerId),
    askedBy: payment.createdBy,
    until: payment.approvalDueAt,
  }));
  return listed(rows, `No payment of the platform ${name} is waiting for approval.`);
}

export function addWebhooks(program: Program): void {
  const webhook = program.command('webhook').description("a platform's webhook endpoints");
  addCommand(webhook, 'list', listEndpoints)
    .description("list a platform's endpoints and the pending deliveries of each")
    .argument(...ofPlatform);
  addAct(webhook, 'replay', replayEvents)
    .description('resend one event, or the events between two feed cursors, to an endpoint')
    .argument(...ofPlatform)
    .argument('<endpoint>', 'the id of the endpoint: WebhookEndpoint:…')
    .option('--event <id>', 'one event: Event:…')
    .option('--after <cursor>', 'events after this cursor')
    .option('--before <cursor>', 'events before this cursor');
}

async function listEndpoints({ database }: Tools, platform: string): Promise<Answer> {
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
  return listed(rows, `The platform ${platform} has no webhook endpoints.`);
}

async function replayEvents(
  { database, webhooks, operator }: Acting,
  platform: string,
  endpointId: string,
  { event, after, before }: { readonly event?: string; readonly after?: string; readonly before?: string },
): Promise<Answer> {
  const caller = platformItself(await platformNamed(database, platform), { ...operator, subject: endpointId });
  const { count } = await replay(webhooks, caller, { endpointId, eventId: event, after, before }, undefined);
  return { data: { endpointId, count }, lines: [`${count} events will be sent to ${endpointId} again.`] };
}
