import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Makes a signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Returns the headers that sign a body (standardwebhooks.com): id, time, and an HMAC-SHA256 per valid secret. */
export function signedHeaders(
  message: { readonly id: string; readonly body: string; readonly at: Date },
  secrets: readonly string[],
): Record<string, string> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(message.at.getTime() / 1000)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(message.id, message.at, message.body))
      .join(' '),
  };
}
