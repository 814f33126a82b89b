import { Webhook } from 'standardwebhooks';

/**
 * Sends push notifications to a customer's devices when a payment ends: the handler of a webhook endpoint for OUTGOING_PAYMENT and
 * INCOMING_PAYMENT. The service delivers at least once and in any order, so the handler must be ready for both.
 */

/** The message for your push service (APNs or FCM), which you send with any library. */
export interface Notification {
  /** The same for repeats: pass it as `apns-collapse-id` or FCM's `collapse_key`, so that a device shows only one. */
  readonly id: string;
  readonly platformCustomerId: string;
  readonly title: string;
  /** The page that the app opens when the notification is tapped. */
  readonly transactionId: string;
}

/** The functions of your server that the handler needs. */
export interface PushServer {
  /** The signing secret of the endpoint. */
  readonly secret: string;
  /**
   * Stores the version of a payment about which the customer is notified, and returns whether it is the highest so
   * far. Do both in one statement of your database, since several processes may handle webhooks at the same time.
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

/** The titles contain no amount and no name, since they appear on a locked screen. The app reads the rest when opened. */
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
 * @returns the status to answer with; unless it is 2xx, the service sends the webhook again later
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
  // Nobody to notify: a TEST, a payment under way, or one of the platform's own. If this webhook asks for the approval
  // of an incoming payment, 202 leaves the decision to approveTransaction or rejectTransaction.
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
