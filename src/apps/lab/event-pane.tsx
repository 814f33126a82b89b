import { useEffect, useState, useSyncExternalStore } from 'react';
import { wordOf } from '../wallet/payment.tsx';
import { type Feed, type FeedEvent, type FeedState, paymentOf } from './feed.ts';

/** The labels for the states of the connection to the feed. */
const stateWords: Readonly<Record<FeedState, string>> = {
  connecting: 'connecting …',
  live: 'live',
  paused: 'paused',
  refused: 'not connected',
};

/** Small phones, where open events would leave no room for the document. */
const littleRoom = '(max-width: 52rem) and (max-height: 42rem), (max-height: 30rem)';

interface EventPaneProps {
  readonly feed: Feed;
  /** Called with the event whose details the user wants to see. */
  readonly onPick: (event: FeedEvent) => void;
}

/** Shows the platform's feed live, newest first, whichever tab is open. */
export function EventPane({ feed, onPick }: EventPaneProps) {
  const { state, events, reason } = useSyncExternalStore(feed.subscribe, feed.view);
  const [isOpen, setOpen] = useState(() => !matchMedia(littleRoom).matches);
  useEffect(() => {
    feed.start();
    return () => feed.pause();
  }, [feed]);
  return (
    <aside className="lab-events" data-open={isOpen} aria-label="Events of the platform">
      <header>
        <button type="button" className="lab-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Events
        </button>
        <span className="lab-state" data-state={state} role="status">
          {stateWords[state]}
        </span>
        {state === 'paused' || state === 'refused' ? (
          <button type="button" onClick={() => feed.start()}>
            Resume
          </button>
        ) : (
          <button
            type="button"
            onClick={() => feed.pause()}
            title="Stop the stream. When you resume it, you get everything that it missed."
          >
            Pause
          </button>
        )}
      </header>
      {state === 'refused' && <p role="alert">{reason.replace(/[^.]$/, '$&.')}</p>}
      {events.length === 0 && state !== 'refused' && <p className="quiet">Nothing has happened yet.</p>}
      <ol>
        {events.map((event) => (
          <li key={event.id} data-transaction={paymentOf(event)}>
            <button
              type="button"
              onClick={() => onPick(event)}
              title={paymentOf(event) ? 'Open its timeline; take its cursor for Resume' : 'Take its cursor for Resume'}
            >
              <span>
                {wordOf(event.type === 'TEST' ? 'WEBHOOK_TEST' : event.type)}{' '}
                <b data-status={statusOf(event)}>{statusOf(event)}</b>
              </span>
              <span className="quiet">
                <time dateTime={event.occurredAt}>{new Date(event.occurredAt).toLocaleTimeString()}</time>{' '}
                {aboutOf(event)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </aside>
  );
}

function statusOf({ subject }: FeedEvent): string {
  if (!subject) return '';
  if ('transactionStatus' in subject) return subject.transactionStatus;
  if ('quoteStatus' in subject) return subject.quoteStatus;
  return 'accountStatus' in subject ? subject.accountStatus : '';
}

function aboutOf({ subject }: FeedEvent): string {
  if (!subject) return '';
  if ('displayName' in subject) return words(subject.displayName, 'balance' in subject && subject.balance.formatted);
  if ('transactionStatus' in subject) return words(subject.sentAmount?.formatted, partiesOf(subject));
  if ('quoteStatus' in subject) return words(subject.totalSendingAmount.formatted, partiesOf(subject));
  return ('kycStatus' in subject && subject.name) || `…${subject.id.slice(-6)}`;
}

type Moved = Extract<FeedEvent['subject'], { readonly destination: unknown }>;

const partiesOf = ({ customer, destination }: Moved) =>
  [customer?.name, destination?.displayName].filter(Boolean).join(' → ');

const words = (...all: readonly (string | false | null | undefined)[]) => all.filter(Boolean).join(' · ');
