import type { Client } from 'graphql-ws';
import { useEffect, useRef, useState } from 'react';
import { concat, defer, map, mergeMap, of, throwError } from 'rxjs';
import { type EventPartsFragment as FeedEvent, LatestEvents, Tail } from '../client/generated/operations.ts';
import type { Operation } from '../client/operation.ts';
import { wordOf } from '../wallet/payment.tsx';
import { resultsOf } from './socket.ts';

/** The labels for the states of the connection to the feed. */
const stateWords = { connecting: 'connecting …', live: 'live', paused: 'paused', refused: 'not connected' } as const;

/** The maximum number of events shown. */
const shown = 200;

/**
 * Follows the platform's feed until it is paused or refused: first its latest events, then each new one, including
 * those missed while disconnected. When resumed, continues after the newest event shown.
 */
function useFeed(socket: Client) {
  const [state, setState] = useState<keyof typeof stateWords>('connecting');
  const [events, setEvents] = useState<readonly FeedEvent[]>();
  const [reason, setReason] = useState('');
  const newest = useRef<string>(undefined);
  const isFollowing = state === 'connecting' || state === 'live';
  useEffect(() => {
    if (!isFollowing) return;
    const latest = dataOf(socket, LatestEvents, { last: 20 });
    const following = defer(() => {
      setState('live');
      return dataOf(socket, Tail, { after: newest.current ?? null });
    });
    const subscription = concat(
      newest.current ? [] : latest.pipe(map(({ events }) => events.edges.map(({ node }) => node).reverse())),
      following.pipe(map(({ events }) => [events])),
    ).subscribe({
      next(added) {
        newest.current = added[0]?.cursor ?? newest.current;
        setEvents((known = []) => [...added, ...known].slice(0, shown));
      },
      error(error: unknown) {
        const [first] = Array.isArray(error) ? error : [error];
        setReason(first instanceof CloseEvent ? first.reason : String((first as Error | undefined)?.message ?? first));
        setState('refused');
      },
    });
    subscription.add(socket.on('closed', () => setState('connecting')));
    subscription.add(socket.on('connected', () => setState('live')));
    return () => subscription.unsubscribe();
  }, [socket, isFollowing]);
  return { state, setState, events, reason };
}

/**
 * Returns an observable that sends an operation and emits the data of each result. If a result has no data, the
 * observable fails with the result's errors.
 */
const dataOf = <Result, Variables extends Record<string, unknown>>(
  socket: Client,
  query: Operation<Result, Variables>,
  variables: Variables,
) =>
  resultsOf<Result>(socket, { query, variables }).pipe(
    mergeMap(({ data, errors }) => (data ? of(data) : throwError(() => errors))),
  );

/** Returns the id of the payment that an event is about, either directly or through its quote. */
export function paymentOf({ subject }: FeedEvent): string | undefined {
  if (!subject) return undefined;
  if ('transaction' in subject) return subject.transaction.id;
  return 'transactionStatus' in subject ? subject.id : undefined;
}

/** Matches small phones, where the open pane would leave no room for the document. */
const littleRoom = matchMedia('(max-width: 52rem) and (max-height: 42rem), (max-height: 30rem)');

interface EventPaneProps {
  readonly socket: Client;
  /** Called with the event whose details the user wants to see. */
  readonly onPick: (event: FeedEvent) => void;
}

/** Shows the platform's feed live, newest event first, whichever tab is open. */
export function EventPane({ socket, onPick }: EventPaneProps) {
  const { state, setState, events, reason } = useFeed(socket);
  const isStopped = state === 'paused' || state === 'refused';
  const [isOpen, setOpen] = useState(!littleRoom.matches);
  useEffect(() => {
    littleRoom.onchange = () => setOpen(!littleRoom.matches);
  }, []);
  return (
    <aside className="lab-events" data-open={isOpen} aria-label="Events of the platform">
      <header>
        <button type="button" className="lab-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Events
        </button>
        <span className="lab-state" data-state={state} role="status">
          {stateWords[state]}
        </span>
        <button
          type="button"
          onClick={() => setState(isStopped ? 'connecting' : 'paused')}
          title={isStopped ? '' : 'Stop the stream. When you resume it, you get everything that you missed.'}
        >
          {isStopped ? 'Resume' : 'Pause'}
        </button>
      </header>
      {state === 'refused' && <p role="alert">{reason.replace(/[^.]$/, '$&.')}</p>}
      {events?.length === 0 && state !== 'refused' && <p className="quiet">Nothing has happened yet.</p>}
      <ol>
        {events?.map((event) => (
          <li key={event.id} data-transaction={paymentOf(event)}>
            <button
              type="button"
              onClick={() => onPick(event)}
              title={paymentOf(event) ? 'Open its timeline; copy its cursor to Resume' : 'Copy its cursor to Resume'}
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

function aboutOf({ type, subject }: FeedEvent): string {
  if (!subject) return '';
  if ('balance' in subject) return words(subject.customer?.name, subject.displayName, subject.balance.formatted);
  if ('displayName' in subject) return subject.displayName;
  if ('transactionStatus' in subject)
    return words((subject.sentAmount ?? subject.receivedAmount)?.formatted, partiesOf(subject, type));
  if ('quoteStatus' in subject) return words(subject.totalSendingAmount.formatted, partiesOf(subject));
  return ('kycStatus' in subject && subject.name) || `…${subject.id.slice(-6)}`;
}

type Moved = Extract<FeedEvent['subject'], { readonly destination: unknown }>;

/** Names the payer and the payee or, for an incoming payment, the receiving customer and account. */
const partiesOf = ({ customer, destination }: Moved, type = '') =>
  [customer?.name, destination?.displayName].filter(Boolean).join(type === 'INCOMING_PAYMENT' ? ' · ' : ' → ');

const words = (...all: readonly (string | false | null | undefined)[]) => all.filter(Boolean).join(' · ');
