import type { Given } from '../../core/conditions.ts';
import { Refusal } from '../../core/refusal.ts';
import { SecretBox } from '../../core/secret-box.ts';
import type { Slots } from '../../core/slots.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { type Declared, runIdempotent } from '../../domain/access/run-idempotent.ts';
import type { Payments } from '../../domain/commands/command.ts';
import type { EventType } from '../../infra/database/generated/client/client.ts';
import { dnsResolver, type Resolver } from '../../infra/net/addresses.ts';
import { paceOf } from './delivery/pace.ts';

export type Webhooks = ReturnType<typeof openWebhooks>;

interface WebhookSettings {
  /** 32 bytes in base64 or hex. */
  readonly SECRET_KEY?: Buffer | undefined;
  /** Other keys with which stored secrets may have been encrypted. */
  readonly SECRET_KEY_FALLBACKS?: readonly Buffer[];
  /** The divisor for the intervals and time limits of webhooks: 1 outside development. */
  readonly WEBHOOK_TIME_SCALE: number;
  readonly ALLOW_UNSAFE: readonly string[];
  readonly ACCESS_LOG?: boolean;
}

/** Sets up the service's webhooks from its settings. `parts.resolve` replaces DNS in tests. */
export function openWebhooks(
  payments: Payments,
  settings: WebhookSettings,
  parts: { readonly resolve?: Resolver | undefined } = {},
) {
  return {
    payments,
    pace: paceOf(settings.WEBHOOK_TIME_SCALE),
    resolve: parts.resolve ?? dnsResolver,
    /** Whether sandbox platforms may have endpoints on this machine. */
    loopback: settings.ALLOW_UNSAFE.includes('loopback-webhooks'),
    /** Encrypts the signing secrets; undefined if no key is set, in which case there can be no endpoints. */
    box: settings.SECRET_KEY && new SecretBox(settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS),
    /** The log for delivery attempts; undefined if they are not logged. */
    attemptLog: settings.ACCESS_LOG ? payments.log : undefined,
    /** The slots for webhook tests that are waiting for a response, by platform (test-event.ts). */
    waitingTests: new Map<string, Slots>(),
  };
}

/** Like `recordCommand`, but for commands that need the service's webhooks. */
export function webhookCommand<Input extends object, Answer>(
  declare: (webhooks: Webhooks, caller: Caller, input: Input) => Declared<Answer>,
) {
  return (webhooks: Webhooks, caller: Caller, input: Input, idempotencyKey: Given<string>) =>
    runIdempotent(webhooks.payments.database, caller, { ...declare(webhooks, caller, input), input, idempotencyKey });
}

/** Returns whether platforms in this environment may have endpoints on this machine. */
export const loopbackAllowed = (webhooks: Webhooks, environment: Tenant['environment']) =>
  webhooks.loopback && environment === 'SANDBOX';

/** Returns the box that encrypts signing secrets. Throws SERVICE_UNAVAILABLE if no key is set. */
export function requireBox(webhooks: Webhooks): SecretBox {
  if (!webhooks.box)
    throw new Refusal('SERVICE_UNAVAILABLE', 'webhooks are not set up on this instance: SECRET_KEY is not set');
  return webhooks.box;
}

/** Returns the owner to pass to the box when it encrypts or decrypts an endpoint's secrets. */
export const secretOwner = (platformId: string, endpointId: string) => `webhook_endpoint:${platformId}:${endpointId}`;

/**
 * The event types for which webhooks are sent. Other events appear only in the feed. A webhook about a delivery, for
 * example, would cause another delivery.
 */
export const webhookTypes = [
  'OUTGOING_PAYMENT',
  'INCOMING_PAYMENT',
  'ACCOUNT_STATUS',
  'KYC_STATUS',
  'API_TOKEN_EXPIRY',
  'TEST',
] as const satisfies readonly EventType[];

/** The same types as a list in SQL. */
export const webhookTypesSql = webhookTypes.map((type) => `'${type}'`).join(', ');
