import { Refusal } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import type { Payments } from '../payments/command.ts';
import { type Resolver, systemResolver } from './delivery/addresses.ts';
import { type Pace, paceOf } from './delivery/pace.ts';
import { SecretBox } from './secret-box.ts';

/** What webhooks work with. */
export interface Webhooks {
  readonly payments: Payments;
  readonly pace: Pace;
  readonly resolve: Resolver;
  /** Whether endpoints of sandbox platforms may be on this machine. */
  readonly loopback: boolean;
  /** Keeps the signing secrets; undefined where no key is set, and then there are no endpoints. */
  readonly box: SecretBox | undefined;
}

export interface WebhookSettings {
  /** 32 bytes in base64 or hex. */
  readonly SECRET_KEY?: Buffer | undefined;
  /** How many times faster than in earnest deliveries are tried again. */
  readonly WEBHOOK_TIME_SCALE: number;
  readonly WEBHOOK_LOOPBACK: boolean;
}

/** The webhooks of an installation, from its settings. */
export function openWebhooks(
  payments: Payments,
  settings: WebhookSettings,
  parts: { readonly resolve?: Resolver | undefined } = {},
): Webhooks {
  return {
    payments,
    pace: paceOf(settings.WEBHOOK_TIME_SCALE),
    resolve: parts.resolve ?? systemResolver,
    loopback: settings.WEBHOOK_LOOPBACK,
    box: settings.SECRET_KEY && new SecretBox(settings.SECRET_KEY),
  };
}

/** Whether a platform's endpoints may be on this machine. */
export function loopbackAllowed(webhooks: Webhooks, environment: Tenant['environment']): boolean {
  return webhooks.loopback && environment === 'SANDBOX';
}

/** The keeper of signing secrets. Refuses where the installation has no key for it. */
export function boxOf(webhooks: Webhooks): SecretBox {
  if (!webhooks.box) throw new Refusal('SERVICE_UNAVAILABLE', 'webhooks are not set up here: SECRET_KEY is not set');
  return webhooks.box;
}

/** What an endpoint's sealed secrets are bound to. */
export function secretOwner(platformId: string, endpointId: string): string {
  return `webhook_endpoint:${platformId}:${endpointId}`;
}
