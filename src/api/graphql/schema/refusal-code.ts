import type { RefusalCode as Code } from '../../../core/refusal.ts';
import { builder } from './builder.ts';

/** What each code means. The compiler reports a code that is missing here. */
const meanings: Record<Code, string> = {
  INVALID_INPUT:
    'A field is malformed, or asks for what cannot be; or several fields are, each with a code of its own.',
  INVALID_AMOUNT: 'The amount is not positive, or has more decimal places than its currency.',
  AMOUNT_OUT_OF_RANGE: 'The amount is too small or too large.',
  INVALID_CURRENCY: 'The currency is unknown, or not possible here.',
  INVALID_BANK_ACCOUNT: 'The details of an external account are wrong, or it is not ACTIVE.',
  INVALID_UMA_ADDRESS: 'The UMA address is malformed, or not in a domain of the platform.',
  INVALID_RECEIVER: 'The receiver cannot be paid.',
  SELF_PAYMENT: 'Source and destination are the same.',
  MISSING_MANDATORY_USER_INFO: 'A fact about the sender that the receiver demands is missing.',
  QUOTE_REQUEST_FAILED: 'The receiving side gave no quote.',
  INSUFFICIENT_BALANCE: 'The source does not hold enough.',
  WEBHOOK_ENDPOINT_NOT_SET: 'The settings name no webhook endpoint. In REST only.',
  WEBHOOK_DELIVERY_ERROR: 'A test event could not be delivered. In REST only.',
  FORBIDDEN: 'The token may not do this.',
  USER_NOT_READY: 'A customer who takes part may not move money.',
  CUSTOMER_FROZEN: 'The operator of the service has frozen the customer.',
  ACCOUNT_FROZEN: 'The operator of the service has frozen the account.',
  LIMIT_EXCEEDED: 'A policy does not allow the payment, or not now.',
  QUOTE_NOT_FOUND: 'There is no such quote.',
  TRANSACTION_NOT_FOUND: 'There is no such transaction.',
  USER_NOT_FOUND: 'There is no such customer.',
  ACCOUNT_NOT_FOUND: 'There is no such account.',
  LOOKUP_REQUEST_NOT_FOUND: 'There is no such lookup, or it has expired.',
  UMA_NOT_FOUND: 'Nobody has this UMA address.',
  TOKEN_NOT_FOUND: 'There is no such token.',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'There is no such webhook endpoint.',
  WEBHOOK_DELIVERY_NOT_FOUND: 'There is no such webhook delivery.',
  EVENT_NOT_FOUND: 'There is no such event.',
  CONFLICT: 'It collides with what is there, or with what has happened.',
  QUOTE_EXPIRED: 'The quote is past its expiry.',
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 'The payment does not wait for approval.',
  UMA_ADDRESS_EXISTS: 'The UMA address is taken.',
  CUSTOMER_IN_USE: 'The customer holds money here, or has payments under way.',
  CUSTOMER_DELETED: 'The customer is deleted.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used before with another input.',
  RATE_LIMITED: 'The token or its platform does too much at once. Nothing has happened.',
  SERVICE_UNAVAILABLE: 'Not possible at the moment. Nothing has happened.',
  OUTCOME_UNKNOWN: 'It may have happened or not.',
};

const codes = Object.keys(meanings) as Code[];

export const RefusalCode = builder.enumType('RefusalCode', {
  description: 'Why something was refused, for programs: the same codes as in REST. New codes may be added.',
  values: Object.fromEntries(codes.map((code) => [code, { description: meanings[code] }])) as {
    readonly [C in Code]: { readonly description: string };
  },
});
