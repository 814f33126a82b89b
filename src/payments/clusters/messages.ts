import { z } from 'zod';
import type { FailureReason } from '../../database/generated/client/client.ts';

/** What clusters say to each other about payments (decision 91). Amounts are smallest units, as digits. */

/** Where each message goes. */
export const paths = {
  receiver: '/clusters/receiver',
  order: '/clusters/order',
  totals: '/clusters/totals',
  orders: '/clusters/orders',
} as const;

const digits = z.string().regex(/^\d{1,16}$/);
const texts = z.record(z.string().max(100), z.string().max(1_000));
const environment = z.enum(['SANDBOX', 'PRODUCTION']);
const umaAddress = z.string().max(400);

/** Asks who receives at a UMA address. */
export const receiverQuestion = z.strictObject({ umaAddress, environment });

/** Who receives there, or null. */
export const receiverAnswer = z.object({
  receiver: z
    .object({
      vaspName: z.string(),
      currencies: z.array(z.object({ code: z.string(), minAmount: digits, maxAmount: digits })),
      requiredFields: z.array(z.object({ name: z.string(), mandatory: z.boolean() })),
      information: texts,
    })
    .nullable(),
});

/** An order to pay a customer there, and the question what has become of it. */
export const orderMessage = z.strictObject({
  orderId: z.uuid(),
  /** The sender's payment, and when it was ordered, by the clock of the sender's database. */
  transactionId: z.uuid(),
  orderedAt: z.iso.datetime(),
  environment,
  umaAddress,
  senderUmaAddress: umaAddress,
  senderInformation: texts,
  amount: digits,
  currency: z.string().max(10),
  description: z.string().max(1_000).nullable(),
  /** Whether it is only asked about, and not made where it is unknown. */
  isQuestion: z.boolean(),
});
export type OrderMessage = z.infer<typeof orderMessage>;

/** What has become of an order. */
export const orderAnswer = z.discriminatedUnion('state', [
  z.object({ state: z.literal('UNKNOWN') }),
  z.object({ state: z.literal('PENDING') }),
  z.object({ state: z.literal('SETTLED'), amount: digits, currency: z.string(), information: texts }),
  z.object({ state: z.literal('FAILED'), explanation: z.string() }),
  z.object({ state: z.literal('REJECTED'), explanation: z.string() }),
]);
export type OrderAnswer = z.infer<typeof orderAnswer>;

const direction = z.enum(['SENT', 'RECEIVED']);
const day = z.iso.date();

/** Asks for what has settled with the cluster that asks. */
export const totalsQuestion = z.strictObject({});
export const totalsAnswer = z.object({
  totals: z.array(
    z.object({
      direction,
      day,
      currency: z.string(),
      orders: z.number(),
      amount: z.string().regex(/^\d+$/),
      fingerprint: z.string(),
    }),
  ),
});
export type ClusterTotal = z.infer<typeof totalsAnswer>['totals'][number];

/** Asks for the orders of a day with the cluster that asks. */
export const ordersQuestion = z.strictObject({ direction, day, currency: z.string() });
export const ordersAnswer = z.object({
  orders: z.array(
    z.object({
      orderId: z.string(),
      transactionId: z.string().nullable(),
      amount: digits,
      state: z.enum(['OPEN', 'SETTLED', 'ENDED']),
    }),
  ),
});
export type ClusterOrderState = z.infer<typeof ordersAnswer>['orders'][number];

/** Why a payment fails whose receiving cluster says that it has failed. */
export const failedThere: FailureReason = 'QUOTE_EXECUTION_FAILED';
