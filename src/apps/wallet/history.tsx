import { useQuery } from '@apollo/client/react';
import { useEffect, useRef } from 'react';
import { History } from '../client/generated/documents.ts';
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
      <ul className="history">
        {data?.transactions.edges.map(({ node }) => (
          <li key={node.id}>
            <span>
              {node.type === 'INCOMING' ? 'From ' : 'To '}
              {(node.type === 'INCOMING' ? node.source : node.destination)?.displayName ?? '…'}
              <small>{timeText(node.createdAt)}</small>
            </span>
            <span>
              <strong>{(node.type === 'INCOMING' ? node.receivedAmount : node.sentAmount)?.formatted}</strong>
              <small className="status" data-status={node.status}>
                {statusText(node)}
              </small>
            </span>
          </li>
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
