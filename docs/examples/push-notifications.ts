import { Webhook } from 'standardwebhooks';

/**
 * Sends push notifications to a customer's devices when a payment ends: the handler of a webhook endpoint for OUTGOING_PAYMENT and
 * INCOMING_PAYMENT. The service delivers at least once and in any order, so the handler must be ready for both.
 */

/** The message for your push service, APNs or FCM, by any library. */
export interface Notification {
  /** Repeats have the same: give it as `apns-collapse-id` or FCM's `collapse_key`, so that a device shows one. */
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
   * Notes the version of a payment whose end is being told, and says whether it is the highest so far. In your database, in one
   * statement: several processes may handle webhooks at once.
   */
  readonly isNewer: (transactionId: string, version: number) => Promise<boolean>;
  /** Sends a notification. It throws where the push service does not take it. */
  readonly send: (notification: Notification) => Promise<void>;
  /** Forgets a version, since its notification was not sent. */
  readonly forget: (transactionId: string, version: number) => Promise<void>;
}

interface PaymentEvent {
  readonly type: string;
  readonly webhookId: string;
  readonly version: number;
  readonly transaction?: { readonly id: string; readonly status: string; readonly platformCustomerId: string | null };
}

/** No amount and no name: a notification is shown on a locked screen. The app reads the rest when it is opened. */
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
 * @returns the status to answer: anything but 2xx and the service sends it again later
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
  // A TEST, a payment under way, or one of the platform's own: there is no one to notify. 202 decides nothing where the service
  // asks for the approval of an incoming payment: approveTransaction or rejectTransaction does.
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
