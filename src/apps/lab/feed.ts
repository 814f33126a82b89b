import type { Client, SubscribePayload } from 'graphql-ws';
import {
  type EventPartsFragment,
  LatestEvents,
  type LatestEventsQuery,
  Tail,
  type TailSubscription,
} from '../client/generated/operations.ts';

export type FeedEvent = EventPartsFragment;

/** Returns the id of the payment that an event is about, including for an event about a quote. */
export function paymentOf({ subject }: FeedEvent): string | undefined {
  if (!subject) return undefined;
  if ('transaction' in subject) return subject.transaction.id;
  return 'transactionStatus' in subject ? subject.id : undefined;
}

/** The state of the connection to the feed. */
export type FeedState = 'connecting' | 'live' | 'paused' | 'refused';

interface FeedView {
  readonly state: FeedState;
  /** The events, newest first. */
  readonly events: readonly FeedEvent[];
  /** The reason for the refusal. */
  readonly reason: string;
}

/** The maximum number of events shown. */
const shown = 200;

/** Follows the feed of the platform: its latest events, then each new one, across reconnects. */
export class Feed {
  readonly #socket: Client;
  readonly #listeners = new Set<() => void>();
  #view: FeedView = { state: 'connecting', events: [], reason: '' };
  #stop: (() => void) | undefined;

  constructor(socket: Client) {
    this.#socket = socket;
    socket.on('closed', () => this.#stop && this.#set({ state: 'connecting' }));
    socket.on('connected', () => this.#stop && this.#set({ state: 'live' }));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly view = (): FeedView => this.#view;

  /** Continues after the newest event shown, or shows the latest events if none is shown yet. */
  start(): void {
    if (this.#stop) return;
    const [newest] = this.#view.events;
    if (newest) this.#follow(newest.cursor);
    else this.#showLatest();
  }

  /** Stops following. Events that happen meanwhile are delivered when it starts again. */
  pause(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#set({ state: 'paused' });
  }

  #showLatest(): void {
    const show = (data: LatestEventsQuery) => {
      const events = data.events.edges.map(({ node }) => node);
      this.#set({ events: events.reverse() });
    };
    const follow = () => this.#stop && this.#follow(this.#view.events[0]?.cursor);
    this.#subscribe({ query: LatestEvents, variables: { last: 20 } }, show, follow);
  }

  #follow(after: string | undefined): void {
    this.#set({ state: 'live' });
    const show = (data: TailSubscription) =>
      this.#set({ state: 'live', events: [data.events, ...this.#view.events].slice(0, shown) });
    this.#subscribe({ query: Tail, variables: { after } }, show, () => undefined);
  }

  #subscribe<Result>(request: SubscribePayload, show: (data: Result) => void, complete: () => void): void {
    this.#stop = this.#socket.subscribe<Result>(request, {
      next: ({ data, errors }) => (data ? show(data) : this.#refuse(errors)),
      error: (error) => this.#refuse(error),
      complete,
    });
  }

  #refuse(error: unknown): void {
    this.#stop = undefined;
    const [first] = Array.isArray(error) ? error : [error];
    const reason = first instanceof CloseEvent ? first.reason : String((first as Error | undefined)?.message ?? first);
    this.#set({ state: 'refused', reason });
  }

  #set(view: Partial<FeedView>): void {
    this.#view = { ...this.#view, ...view };
    for (const listener of this.#listeners) listener();
  }
}
