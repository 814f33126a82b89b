import { useQuery } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { History, type HistoryQuery } from '../client/generated/documents.ts';
import { focused } from './pay.tsx';
import { PaymentStatus } from './payment-status.tsx';
import {
  type Account,
  accountText,
  breakable,
  locale,
  reasonOf,
  statusText,
  timeText,
  useReconnected,
} from './service.ts';

/** Shows all payments, newest first. The next page is read when the end of the list comes into view. */
export function Payments() {
  const { data, error, loading, fetchMore } = useQuery(History, {
    variables: { first: 10, locale },
    notifyOnNetworkStatusChange: true,
  });
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {error && <p role="alert">{reasonOf(error)}</p>}
      <ul className="rows">
        {data?.transactions.edges.map(({ node }) => (
          <Payment key={node.id} payment={node} />
        ))}
      </ul>
      {data?.transactions.edges.length === 0 && <p>Nothing yet.</p>}
      {data && <More page={data.transactions.pageInfo} {...{ loading, fetchMore }} />}
    </section>
  );
}

interface MoreProps {
  readonly page: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly loading: boolean;
  readonly fetchMore: (next: { readonly variables: { readonly after: string | null } }) => Promise<unknown>;
}

/** Renders the end of a list. When it comes into view, the next page is read, unless the last attempt failed. */
export function More({ page: { hasNextPage, endCursor }, loading, fetchMore }: MoreProps) {
  const end = useRef<HTMLButtonElement>(null);
  const [failure, setFailure] = useState<string>();
  const [isFocused, setFocused] = useState(false);
  useReconnected(() => setFailure(undefined));
  const read = () => {
    if (loading) return;
    fetchMore({ variables: { after: endCursor } }).then(
      () => setFailure(undefined),
      // Renders the failure at once, so that no other read starts before it appears.
      (error) => flushSync(() => setFailure(reasonOf(error))),
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is new on every render, but what it fetches changes only with the cursor
  useEffect(() => {
    if (!end.current || loading || failure) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && read());
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [endCursor, loading, failure]);
  if (!hasNextPage)
    return isFocused ? (
      <p tabIndex={-1} ref={focused}>
        End of the list.
      </p>
    ) : null;
  return (
    <>
      {failure && <p role="alert">{failure}</p>}
      <button
        type="button"
        ref={end}
        aria-busy={loading}
        onClick={read}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        More
      </button>
    </>
  );
}

interface Parties {
  readonly type: string;
  readonly source: Account | null;
  readonly destination: Account | null;
}

/** Returns a payment's counterparty: "To Ada Muster •••• 1234". */
export const partyText = ({ type, source, destination }: Parties) =>
  type === 'INCOMING' ? `From ${accountText(source)}` : `To ${accountText(destination)}`;

/** Shows a payment in a row, and in full when the row is opened. */
function Payment({ payment }: { payment: HistoryQuery['transactions']['edges'][number]['node'] }) {
  const [isOpen, setOpen] = useState(false);
  const { id, type, createdAt, sentAmount, receivedAmount, status } = payment;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span>
            {partyText(payment)} <small>{timeText(createdAt)}</small>
          </span>
          <span>
            <strong>{breakable((type === 'INCOMING' ? receivedAmount : sentAmount)?.formatted ?? '')}</strong>
            <small data-status={status}>{statusText(payment)}</small>
          </span>
        </summary>
        {isOpen && <PaymentStatus id={id} />}
      </details>
    </li>
  );
}
