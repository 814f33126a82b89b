import type { FailureReason } from '../client/generated/documents.ts';
import { type LiveTransaction, useConnectionState, useTransaction } from '../client/react.ts';
import { PaymentDrawing, wordOf } from './payment.tsx';
import { locale, noConnectionText, reasonOf, statusText } from './service.ts';

/** Why payments end without success, as shown to customers. */
const reasons: Readonly<Record<FailureReason | 'REFUNDED' | 'REJECTED', string>> = {
  LNURLP_FAILED: 'The receiver’s address could not be found.',
  MISSING_MANDATORY_PAYEE_DATA: 'The receiver’s details are incomplete.',
  OFFRAMP_FAILED: 'The money could not be delivered.',
  PAYMENT_APPROVAL_TIMED_OUT: 'Nobody approved the payment in time.',
  PAYMENT_APPROVAL_WEBHOOK_ERROR: 'The payment could not be approved.',
  PAY_REQUEST_FAILED: 'The receiver’s provider did not answer.',
  QUOTE_EXECUTION_FAILED: 'The payment could not be made.',
  QUOTE_EXPIRED: 'The quote had expired.',
  REFUNDED: 'The bank returned the money.',
  REJECTED: 'The payment was refused.',
};

/** Follows a payment, and shows it as its customer sees it: with the entries of the customer's own accounts. */
export function PaymentStatus({ id }: { id: string }) {
  const { value, error } = useTransaction(id, locale);
  const isConnected = useConnectionState() === 'OPEN';
  const problem = error ? reasonOf(error) : value || isConnected ? undefined : noConnectionText();
  return (
    <div>
      <p role={problem ? 'alert' : 'status'} className={value && !problem ? 'hidden' : undefined}>
        {problem ?? (value ? statusText(value) : 'loading …')}
      </p>
      {value && (
        <PaymentDrawing payment={{ ...value, timeline: statesOf(value) }}>
          <ul className="legs" aria-label="Entries of your accounts">
            {value.ledgerEntries.map(
              ({ id, kind, account, amount }) =>
                account && (
                  <li key={id}>
                    <small>{wordOf(kind)}</small>
                    <span>{account.displayName}</span>
                    <b>{amount.formatted}</b>
                  </li>
                ),
            )}
          </ul>
        </PaymentDrawing>
      )}
    </div>
  );
}

/** Returns a payment's states, with the reason for any failure. Omits its quote's PENDING state before CREATED. */
function statesOf({ timeline, failureReason }: LiveTransaction) {
  const created = timeline.findIndex(({ status }) => status === 'CREATED');
  return timeline.slice(Math.max(created, 0)).map(({ status, occurredAt }) => {
    const why = status === 'FAILED' ? failureReason : status === 'REFUNDED' || status === 'REJECTED' ? status : null;
    return { status, occurredAt, reason: why && reasons[why] };
  });
}
