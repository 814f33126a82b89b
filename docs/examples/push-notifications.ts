import { Webhook } from 'standardwebhooks';

/**
 * A handler for OUTGOING_PAYMENT and INCOMING_PAYMENT webhooks that sends push notifications to a customer's devices
 * when a payment ends. The service delivers webhooks at least once and in any order, so the handler must cope with
 * webhooks that are repeated or out of order.
 */

/** The message for your push service (APNs or FCM). You can send it with any library. */
export interface Notification {
  /** Repeats have the same id. Pass it as `apns-collapse-id` or FCM's `collapse_key`, so a device shows only one. */
  readonly id: string;
  readonly platformCustomerId: string;
  readonly title: string;
  /** The transaction that the app shows when the user taps the notification. */
  readonly transactionId: string;
}

/** The functions that your server must provide to the handler. */
export interface PushServer {
  /** The endpoint's signing secret. */
  readonly secret: string;
  /**
   * Stores a payment's version if it is higher than the stored one, and returns whether it was higher. Do both in a
   * single database statement, because several processes may handle webhooks at the same time.
   */
  readonly isNewer: (transactionId: string, version: number) => Promise<boolean>;
  /** Sends a notification. Throws if the push service does not accept it. */
  readonly send: (notification: Notification) => Promise<void>;
  /** Forgets a version whose notification was not sent. */
  readonly forget: (transactionId: string, version: number) => Promise<void>;
}

interface PaymentEvent {
  readonly type: string;
  readonly webhookId: string;
  readonly version: number;
  readonly transaction?: { readonly id: string; readonly status: string; readonly platformCustomerId: string | null };
}

/** The titles appear on the lock screen, so they contain no amounts or names. The app fetches those when opened. */
const titles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  OUTGOING_PAYMENT: {
    COMPLETED: 'Your payment has arrived',
    FAILED: 'Your payment failed',
    REFUNDED: 'Your payment came back',
  },
  INCOMING_PAYMENT: { COMPLETED: 'You have received money' },
};

/**
 * Handles one webhook.
 * @param body the raw body, as it arrived
 * @returns the response status; unless it is 2xx, the service sends the webhook again later
 */
export async function handleWebhook(
  server: PushServer,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  let event: PaymentEvent;
  try {
    event = new Webhook(server.secret).verify(body, { ...headers }) as PaymentEvent;
  } catch {
    return 401;
  }
  const { type, webhookId, version, transaction } = event;
  const title = transaction && titles[type]?.[transaction.status];
  // TEST webhooks, payments in progress and the platform's own payments trigger no notification. If the webhook
  // requests approval of an incoming payment, 202 leaves the decision to approveTransaction or rejectTransaction.
  if (!title || transaction.platformCustomerId === null) return 202;
  if (!(await server.isNewer(transaction.id, version))) return 202;
  const { id: transactionId, platformCustomerId } = transaction;
  try {
    await server.send({ id: webhookId, platformCustomerId, title, transactionId });
  } catch {
    await server.forget(transactionId, version);
    return 503;
  }
  return 202;
}
