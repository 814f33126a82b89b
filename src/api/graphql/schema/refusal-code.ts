import type { RefusalCode as Code } from '../../../core/refusal.ts';
import { builder } from './builder.ts';

/** What each code means. The compiler reports a code that is missing here. */
const meanings: Record<Code, string> = {
  INVALID_INPUT:
    'A field is malformed or asks for something impossible. If several fields are wrong, each has a code of its own in `fields`.',
  INVALID_AMOUNT: 'The amount is not positive, or has more decimal places than its currency.',
  AMOUNT_OUT_OF_RANGE: 'The amount is below the minimum or above the maximum.',
  INVALID_CURRENCY: 'The currency is unknown, or not supported here.',
  INVALID_BANK_ACCOUNT: 'The details of the external account are wrong, or the account is not ACTIVE.',
  INVALID_UMA_ADDRESS: "The UMA address is malformed, not in the platform's domain, or refused by the receiving side.",
  INVALID_RECEIVER: 'The receiver cannot be paid.',
  SELF_PAYMENT: 'The source and the destination are the same account or address.',
  MISSING_MANDATORY_USER_INFO: 'Information about the sender that the receiver requires is missing.',
  QUOTE_REQUEST_FAILED: 'The receiving side did not return a quote.',
  INSUFFICIENT_BALANCE: 'The balance of the source is too low.',
  WEBHOOK_ENDPOINT_NOT_SET: 'No webhook endpoint is configured in the settings. In REST only.',
  WEBHOOK_DELIVERY_ERROR: 'A test event could not be delivered. In REST only.',
  FORBIDDEN: 'The token may not do this.',
  USER_NOT_READY:
    'A customer in this payment may not move money: its identity check is not approved, or it was deleted.',
  CUSTOMER_FROZEN: 'The operator of the service has frozen the customer.',
  ACCOUNT_FROZEN: 'The operator of the service has frozen the account.',
  LIMIT_EXCEEDED: 'A policy does not allow the payment, or does not allow it now.',
  QUOTE_NOT_FOUND: 'There is no such quote.',
  TRANSACTION_NOT_FOUND: 'There is no such transaction.',
  USER_NOT_FOUND: 'There is no such customer.',
  ACCOUNT_NOT_FOUND: 'There is no such account.',
  LOOKUP_REQUEST_NOT_FOUND: 'There is no such lookup, or it has expired.',
  UMA_NOT_FOUND: 'Nobody can be reached at this UMA address.',
  TOKEN_NOT_FOUND: 'There is no such token.',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'There is no such webhook endpoint.',
  WEBHOOK_DELIVERY_NOT_FOUND: 'There is no such webhook delivery.',
  EVENT_NOT_FOUND: 'There is no such event.',
  CONFLICT: 'The request conflicts with something that already exists or has already happened.',
  QUOTE_EXPIRED: 'The quote has expired.',
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 'The payment is not waiting for approval.',
  UMA_ADDRESS_EXISTS: 'Another customer has this UMA address.',
  CUSTOMER_IN_USE: 'The customer still has money in its accounts or payments in progress.',
  CUSTOMER_DELETED: 'The customer was deleted.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was already used with another input.',
  RATE_LIMITED: 'The token or its platform sends too many requests. Nothing was done.',
  SERVICE_UNAVAILABLE: 'The request cannot be served at the moment. Nothing was done.',
  OUTCOME_UNKNOWN: 'It is unknown whether the request took effect. Repeat it with the same idempotency key.',
};

const codes = Object.keys(meanings) as Code[];

export const RefusalCode = builder.enumType('RefusalCode', {
  description: 'Why a request was refused, for programs: the same codes as in REST. New codes may be added.',
  values: Object.fromEntries(codes.map((code) => [code, { description: meanings[code] }])) as {
    readonly [C in Code]: { readonly description: string };
  },
});
