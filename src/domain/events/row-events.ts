import DataLoader from 'dataloader';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Event, EventType } from '../../infra/database/generated/client/client.ts';
import { columnsOf } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { Subject } from './subscribers.ts';

/** One row's events. Each version of the row has exactly one event. */

export type FollowedNoun = 'Transaction' | 'Quote' | 'Account' | 'Customer';

/** How to find the events of a noun's rows, by one of the feed's indexed ids and by type. */
export const eventsOfNoun = {
  Transaction: { of: 'transaction', types: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] },
  Quote: { of: 'transaction', types: ['QUOTE_STATUS'] },
  Account: { of: 'account', types: ['ACCOUNT_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'ACCOUNT_CHANGE'] },
  Customer: { of: 'customer', types: ['KYC_STATUS', 'CUSTOMER_CHANGE'] },
} as const satisfies Record<FollowedNoun, { readonly of: Subject['of']; readonly types: readonly EventType[] }>;

const nounsByType = new Map<EventType, FollowedNoun>(
  Object.entries(eventsOfNoun).flatMap(([noun, { types }]) => types.map((type) => [type, noun as FollowedNoun])),
);

/** Returns the noun of the row that changed; undefined for an event about something else. */
export function nounOf({ type }: Pick<Event, 'type'>): FollowedNoun | undefined {
  return nounsByType.get(type);
}

export function subjectIdOf(event: Event): string {
  const noun = nounOf(event);
  const id = noun && event[`${eventsOfNoun[noun].of}Id`];
  if (!id) throw new Error(`${event.type} event has no subject id`);
  return id;
}

type Found = Event & { readonly subjectId: string; readonly before: bigint };

/** The types are literals in the SQL: only then does Postgres use the index of a customer's own events. */
const latestStatement = (noun: FollowedNoun) => {
  const { of, types } = eventsOfNoun[noun];
  return statement<Found>(
    `latest_events_of_${noun.toLowerCase()}`,
    `select w.id as subject_id, w.before, ${columnsOf('Event', 'e')} from unnest($2::uuid[], $3::bigint[]) w(id, before)
     cross join lateral (
       select * from event e where e.platform_id = $1 and e.${of}_id = w.id and e.sequence < w.before
         and e.type in (${types.map((type) => `'${type}'`).join(', ')}) order by e.sequence desc limit 1
     ) e`,
  );
};
const latestOf: Readonly<Record<FollowedNoun, ReturnType<typeof latestStatement>>> = {
  Transaction: latestStatement('Transaction'),
  Quote: latestStatement('Quote'),
  Account: latestStatement('Account'),
  Customer: latestStatement('Customer'),
};

const endOfFeed = 2n ** 62n;

/** Reads the events in one statement, so that they reflect the same moment. `ids` are distinct `subjectIdOf`s. */
export async function latestEventsOf(pool: Queryable, platformId: string, noun: FollowedNoun, ids: readonly string[]) {
  const found = await asPlatform(platformId, () =>
    latestOf[noun](pool, platformId, ids, Array(ids.length).fill(String(endOfFeed))),
  );
  return new Map(found.map((event) => [event.subjectId, event]));
}

const maxBatch = 200;

/** Finds the event before a given event of the same row. Lookups are batched, and shared by all subscribers. */
export class PreviousEvents {
  readonly #known = new WeakMap<Event, Promise<Event | undefined>>();
  readonly #loader: DataLoader<Event, Event | undefined>;

  constructor(pool: Queryable) {
    this.#loader = new DataLoader((events) => readPrevious(pool, events), { cache: false, maxBatchSize: maxBatch });
  }

  of(event: Event): Promise<Event | undefined> {
    const known = this.#known.get(event);
    if (known) return known;
    const previous = event.version === 1 ? Promise.resolve(undefined) : this.#loader.load(event);
    this.#known.set(event, previous);
    // After a failure, the next caller tries again.
    previous.catch(() => this.#known.delete(event));
    return previous;
  }
}

async function readPrevious(pool: Queryable, events: readonly Event[]): Promise<(Event | undefined)[]> {
  const previous = new Map<Event, Event | undefined>();
  const groups = Map.groupBy(events, ({ platformId, type }) => `${platformId} ${nounsByType.get(type)}`);
  for (const [first, ...rest] of groups.values()) {
    const noun = first && nounOf(first);
    if (!noun) continue;
    const group = [first, ...rest];
    const found = await asPlatform(first.platformId, () =>
      latestOf[noun](
        pool,
        first.platformId,
        group.map(subjectIdOf),
        group.map(({ sequence }) => String(sequence)),
      ),
    );
    const bySequence = new Map(found.map((event) => [event.before, event]));
    for (const event of group) previous.set(event, bySequence.get(event.sequence));
  }
  return events.map((event) => previous.get(event));
}
