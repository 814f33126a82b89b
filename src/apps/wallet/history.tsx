import { useQuery } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { History, type HistoryQuery } from '../client/generated/documents.ts';
import { PaymentStatus } from './pay.tsx';
import { locale, statusText, timeText } from './service.ts';

/** Shows all payments, newest first. The next page is read when the end of the list comes into view. */
export function Payments() {
  const { data, error, loading, fetchMore } = useQuery(History, {
    variables: { first: 10, locale },
    notifyOnNetworkStatusChange: true,
  });
  const end = useRef<HTMLButtonElement>(null);
  const { hasNextPage, endCursor } = data?.transactions.pageInfo ?? {};
  useEffect(() => {
    if (!end.current || !hasNextPage || loading) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) fetchMore({ variables: { after: endCursor } }).catch(() => undefined);
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasNextPage, endCursor, loading, fetchMore]);

  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {error && <p role="alert">{error.message}</p>}
      <ul className="rows">
        {data?.transactions.edges.map(({ node }) => (
          <Payment key={node.id} payment={node} />
        ))}
      </ul>
      {data?.transactions.edges.length === 0 && <p>Nothing yet.</p>}
      {hasNextPage && (
        <button
          type="button"
          ref={end}
          disabled={loading}
          onClick={() => fetchMore({ variables: { after: endCursor } }).catch(() => undefined)}
        >
          More
        </button>
      )}
    </section>
  );
}

/** Shows a payment in a row, and in full when the row is opened. */
function Payment({ payment }: { payment: HistoryQuery['transactions']['edges'][number]['node'] }) {
  const [isOpen, setOpen] = useState(false);
  const { id, type, source, destination, createdAt, sentAmount, receivedAmount, status } = payment;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span>
            {type === 'INCOMING' ? 'From ' : 'To '}
            {(type === 'INCOMING' ? source : destination)?.displayName ?? '…'}
            <small>{timeText(createdAt)}</small>
          </span>
          <span>
            <strong>{(type === 'INCOMING' ? receivedAmount : sentAmount)?.formatted}</strong>
            <small data-status={status}>{statusText(payment)}</small>
          </span>
        </summary>
        {isOpen && <PaymentStatus id={id} />}
      </details>
    </li>
  );
}
