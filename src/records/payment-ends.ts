import { accountPublicId, publicId } from '../core/ids.ts';
import type { AccountKind } from '../database/generated/client/client.ts';
import type { Quote, Transaction } from '../database/rows.ts';
import { type Queryable, statement } from '../database/statement.ts';

/**
 * What a payment's record tells of other rows. All of it is fixed when those rows are made, so a record made later from
 * an earlier state of the payment is the record that was made then: a repeated answer is the first one, byte for byte.
 */
export interface PaymentEnds {
  readonly customer: { readonly platformCustomerId: string } | null;
  readonly sourceAccount: { readonly kind: AccountKind } | null;
  readonly destinationAccount: { readonly kind: AccountKind } | null;
}

/** Selects the ends together with payments, in the statement that reads them. */
export const paymentEnds = {
  customer: { select: { platformCustomerId: true } },
  sourceAccount: { select: { kind: true } },
  destinationAccount: { select: { kind: true } },
} as const;

const endsStatement = statement<{
  platform_customer_id: string | null;
  source_kind: AccountKind | null;
  destination_kind: AccountKind | null;
}>(
  'payment_ends',
  `select (select c.platform_customer_id from customer c where c.platform_id = $1 and c.id = $2),
     (select a.kind from account a where a.platform_id = $1 and a.id = $3) as source_kind,
     (select a.kind from account a where a.platform_id = $1 and a.id = $4) as destination_kind`,
);

type EndColumns = Pick<Quote, 'platformId' | 'customerId' | 'sourceAccountId' | 'destinationAccountId'>;

/** Reads the ends of one payment whose row is at hand, such as a command's or an event's. */
export async function readPaymentEnds(on: Queryable, payment: EndColumns): Promise<PaymentEnds> {
  const { platformId, customerId, sourceAccountId, destinationAccountId } = payment;
  const [row] = await endsStatement(on, platformId, customerId, sourceAccountId, destinationAccountId);
  return {
    customer: row?.platform_customer_id == null ? null : { platformCustomerId: row.platform_customer_id },
    sourceAccount: row?.source_kind == null ? null : { kind: row.source_kind },
    destinationAccount: row?.destination_kind == null ? null : { kind: row.destination_kind },
  };
}

/** Where the money of a payment comes from (specification 2.7). */
export type SourceRecord =
  | {
      readonly sourceType: 'ACCOUNT';
      readonly accountId: string;
      readonly customerId?: string;
      readonly currency: string;
    }
  | { readonly sourceType: 'REALTIME_FUNDING'; readonly customerId?: string; readonly currency: string }
  | { readonly sourceType: 'UMA_ADDRESS'; readonly umaAddress: string; readonly currency: string };

/** Where the money of a payment goes (specification 2.7). */
export type DestinationRecord =
  | { readonly destinationType: 'ACCOUNT'; readonly accountId: string; readonly currency: string }
  | { readonly destinationType: 'UMA_ADDRESS'; readonly umaAddress: string; readonly currency: string };

type Sourced = Pick<Quote | Transaction, 'sourceKind' | 'sourceAccountId' | 'customerId'>;

/** The source, or undefined where it is not known. `withCustomer` names the paying customer of an account, as quotes do. */
export function sourceRecord(
  payment: Sourced,
  ends: PaymentEnds,
  options: { readonly currency: string; readonly umaAddress: string | null; readonly withCustomer: boolean },
): SourceRecord | undefined {
  const { currency, umaAddress } = options;
  const customer = payment.customerId === null ? {} : { customerId: publicId('Customer', payment.customerId) };
  switch (payment.sourceKind) {
    case 'ACCOUNT':
      if (payment.sourceAccountId === null || !ends.sourceAccount) return undefined;
      return {
        sourceType: 'ACCOUNT',
        accountId: accountPublicId(ends.sourceAccount.kind, payment.sourceAccountId),
        ...(options.withCustomer && customer),
        currency,
      };
    case 'REALTIME_FUNDING':
      return { sourceType: 'REALTIME_FUNDING', ...customer, currency };
    case 'UMA_ADDRESS':
      return umaAddress === null ? undefined : { sourceType: 'UMA_ADDRESS', umaAddress, currency };
    case null:
      return undefined;
  }
}

type Destined = Pick<Quote | Transaction, 'destinationAccountId' | 'destinationUmaAddress'>;

/** The destination. The tables see to it that a payment has one. */
export function destinationRecord(payment: Destined, ends: PaymentEnds, currency: string): DestinationRecord {
  const { destinationUmaAddress: umaAddress, destinationAccountId } = payment;
  if (umaAddress !== null) return { destinationType: 'UMA_ADDRESS', umaAddress, currency };
  if (destinationAccountId === null || !ends.destinationAccount) {
    throw new Error('a payment goes to an account or to a UMA address');
  }
  const accountId = accountPublicId(ends.destinationAccount.kind, destinationAccountId);
  return { destinationType: 'ACCOUNT', accountId, currency };
}
