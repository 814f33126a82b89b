import type { ReactNode } from 'react';

/** A payment's states, and what decides the next one. The lab draws whatever fields a document selects. */
export interface DrawnPayment {
  readonly timeline: readonly State[];
  readonly final?: boolean;
  readonly approvalDueAt?: string | null;
  readonly expectedSettlementAt?: string | null;
  readonly refund?: { readonly settledAt?: string | null } | null;
}

interface State {
  readonly status: string;
  readonly occurredAt: string;
  readonly reason?: string | null;
}

interface PaymentDrawingProps {
  readonly payment: DrawnPayment;
  readonly children: ReactNode;
}

/** Draws a payment: its states on a line with their times, what comes next, and below them its movements. */
export function PaymentDrawing({ payment, children }: PaymentDrawingProps) {
  const { timeline } = payment;
  const next = nextOf(payment);
  return (
    <figure className="payment" aria-label="The payment">
      <ol className="states">
        {timeline.map(({ status, occurredAt, reason }, index) => (
          <li key={occurredAt + status} data-status={status}>
            <b>{status}</b>
            <time dateTime={occurredAt}>{timeText(occurredAt, timeline[index - 1]?.occurredAt)}</time>
            {reason}
          </li>
        ))}
        {next && <li className="quiet next">{next}</li>}
      </ol>
      {children}
    </figure>
  );
}

/** Describes the payment's next step, if there is one and the document selects the fields that show it. */
function nextOf({ timeline, final, approvalDueAt, expectedSettlementAt, refund }: DrawnPayment): string | undefined {
  switch (timeline.at(-1)?.status) {
    case 'CREATED':
    case 'PENDING':
      return approvalDueAt ? `Next: approval, due by ${timeText(approvalDueAt)}` : 'Next: execution or funding';
    case 'PROCESSING':
      return `Next: delivery${expectedSettlementAt ? `, expected by ${timeText(expectedSettlementAt)}` : ''}`;
    case 'COMPLETED':
      return final === false ? 'The bank may still return the money' : undefined;
    default:
      return refund?.settledAt === null ? 'Next: the refund arrives' : undefined;
  }
}

function timeText(time: string, other = new Date().toISOString()): string {
  const [at, beside] = [new Date(time), new Date(other)];
  const isSameDay = at.toDateString() === beside.toDateString();
  return at.toLocaleString(undefined, { timeStyle: 'medium', ...(!isSameDay && { dateStyle: 'medium' }) });
}

/** Returns an enum value in words. */
export function wordOf(value: string): string {
  const words = value
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^(api|kyc)\b/, (name) => name.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
