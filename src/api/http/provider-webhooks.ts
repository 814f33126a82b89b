import type { IncomingMessage, ServerResponse } from 'node:http';
import querystring from 'node:querystring';
import { setTimeout as delay } from 'node:timers/promises';
import { boundedCache } from '../../core/bounded-cache.ts';
import { InexactJson } from '../../core/json.ts';
import { outsideWait } from '../../core/outside-wait.ts';
import { type CredentialBrake, RateLimited } from '../../domain/access/limits/rate-limits.ts';
import type { Payments } from '../../domain/commands/command.ts';
import { receiveWebhook } from '../../domain/providers/webhooks.ts';
import { tooLong } from './admission.ts';
import type { CallerOptions } from './callers.ts';
import { answer, refuse, unavailable } from './refusals.ts';

/** The paths for webhooks from rail providers: `/rails/Platform:…/webhooks`. */
const addressForm = /^\/rails\/([^/]{1,100})\/webhooks$/;

/** The maximum number of proven addresses, and how long they are remembered, in milliseconds. */
const proven = { max: 10_000, ttlMs: 3_600_000 } as const;

/** How long each refusal takes, in ms: longer than it takes to find the reason, so that the timing reveals nothing. */
const defaultRefusalMs = 100;

interface ProviderWebhookOptions extends Pick<CallerOptions, 'pace' | 'addressOf'> {
  readonly payments: Payments;
  /** For tests only. */
  readonly refusalMs?: number | undefined;
  /** Slows down senders of invalid signatures. */
  readonly brake: CredentialBrake;
}

/**
 * Handles webhooks from rail providers. Responds with 200 once a message is stored, and with 401 if it has no valid
 * signature. The 401 response and its timing are the same for known and unknown platforms. Invalid signatures are
 * counted against the sender's address.
 */
export class ProviderWebhooks {
  readonly #options: ProviderWebhookOptions;
  /**
   * Addresses from which a platform has received validly signed webhooks. Further webhooks to the platform from such an
   * address are checked even if the address has sent too many invalid ones.
   */
  readonly #proven = boundedCache<true>(proven.max, proven.ttlMs);

  constructor(options: ProviderWebhookOptions) {
    this.#options = options;
  }

  takes(path: string): boolean {
    return addressForm.test(path);
  }

  /** @param body undefined if it was too long */
  async answer(response: ServerResponse, body: Buffer | undefined): Promise<void> {
    const { req: request } = response;
    const [path = ''] = (request.url ?? '').split('?', 1);
    const fail = (status: number, code: string, message: string) => answer(response, status, { status, code, message });
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      return fail(405, 'METHOD_NOT_ALLOWED', 'webhooks must be sent by POST');
    }
    if (!body) return fail(413, 'PAYLOAD_TOO_LARGE', tooLong);
    const { payments, pace, addressOf, refusalMs = defaultRefusalMs } = this.#options;
    const refusable = delay(refusalMs, undefined, { ref: false });
    try {
      const received = await this.#receive(request, path, body);
      if (received) return answer(response, received.status ?? 200, { received: true });
      await outsideWait(Promise.all([refusable, pace.wait(`address ${addressOf(request)}`)]));
      fail(401, 'UNAUTHENTICATED', "not a webhook from this platform's provider: its signature is missing or wrong");
    } catch (error) {
      if (error instanceof RateLimited) {
        await outsideWait(pace.wait(`address ${addressOf(request)}`));
        return refuse(response, 'REST', error);
      }
      if (error instanceof InexactJson) return fail(400, 'INVALID_INPUT', error.message);
      payments.log.error({ err: error, path }, "could not store a provider's webhook");
      refuse(response, 'REST', unavailable('the webhook could not be stored; send it again'));
    }
  }

  async #receive(request: IncomingMessage, path: string, body: Buffer) {
    const { payments, brake, addressOf } = this.#options;
    // Unlike decodeURIComponent, this accepts any string.
    const platformId = querystring.unescape(addressForm.exec(path)?.[1] ?? '');
    const sender = `${addressOf(request)} ${platformId}`;
    const succeed = this.#proven.has(sender) ? undefined : brake.begin(addressOf(request));
    let isWrong = false;
    try {
      const received = await receiveWebhook(payments, platformId, { headers: request.headers, body });
      isWrong = received === undefined;
      if (received) this.#proven.set(sender, true);
      return received;
    } finally {
      // After an exception, it is not known whether the signature was valid.
      if (!isWrong) succeed?.();
      else if (!succeed) brake.fail(addressOf(request));
    }
  }
}
