import type pg from 'pg';
import type { Scope } from './rule.ts';

/**
 * The rows that are newer than a checkpoint, or may still change.
 *
 * New events and legs can be selected exactly: the events after the feed's last number at the checkpoint, and the legs
 * after the version that their account had then. Both numbers are assigned under a lock, so no later commit can have a
 * lower one. Journals have only ids, but each belongs to a change in a payment or a balance, whose event is written in
 * the same transaction, soon after the journal. A new journal is therefore at most slightly older than the oldest new
 * event, even if it was committed late or the clock was set back.
 */

/** The longest delay assumed between a journal and its first event: a hundred times a transaction's usual duration. */
const margin = '5 minutes';

/** The platforms, with the point where their new rows begin (`since`), and the payments to check now (`chunk`). */
const parameters = `
  since as (select * from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as s(platform_id, sequence, first_journal)),
  chunk as (select * from unnest($4::uuid[], $5::uuid[]) as c(platform_id, id))`;

const journalsSince =
  '(select j.* from since s join journal j on j.platform_id = s.platform_id and j.id >= s.first_journal)';
const postingsSince =
  '(select p.* from since s join posting p on p.platform_id = s.platform_id and p.journal_id >= s.first_journal)';
const ofChunk = (table: string, column: string) =>
  `(select r.* from chunk c join ${table} r on r.platform_id = c.platform_id and r.${column} = c.id)`;

/** The scope of an audit from a checkpoint. Its queries run with `parameters`. */
export const rowsSince: Scope = {
  payments: ofChunk('transaction', 'id'),
  journalsOfPayments: ofChunk('journal', 'transaction_id'),
  quotes: ofChunk('quote', 'transaction_id'),
  eventsOfPayments: ofChunk('stored_event', 'transaction_id'),
  deposits: ofChunk('rail_deposit', 'transaction_id'),
  journals: journalsSince,
  postings: postingsSince,
  // Accounts that have changed, and accounts with a leg that bypassed the ledger's functions.
  accountLegs: `(select p.* from (
      select a.platform_id, a.id, coalesce(b.version, 0) as version
      from account a left join audit_balance b on b.platform_id = a.platform_id and b.account_id = a.id
      where a.kind = 'INTERNAL' and a.version is distinct from b.version
      union
      select l.platform_id, l.account_id, coalesce(b.version, 0)
      from ${postingsSince} l left join audit_balance b on b.platform_id = l.platform_id and b.account_id = l.account_id
      where l.account_id is not null
    ) a join posting p on p.platform_id = a.platform_id and p.account_id = a.id and p.account_version > a.version)`,
  balances: 'audit_balance',
  marks: 'audit_mark',
};

/** Payments with newer events, journals or rows, and payments whose status is not terminal. */
const paymentsSince = `seen as materialized (
    select e.platform_id, e.transaction_id as id from since s
      join stored_event e on e.platform_id = s.platform_id and e.sequence > s.sequence where e.transaction_id is not null
    union select platform_id, transaction_id from outbox where transaction_id is not null
    union select platform_id, transaction_id from ${journalsSince} j where transaction_id is not null
    union select t.platform_id, t.id from since s join transaction t on t.platform_id = s.platform_id and t.id >= s.first_journal
    union select q.platform_id, q.transaction_id from since s join quote q on q.platform_id = s.platform_id and q.id >= s.first_journal
  )
  select platform_id, id from seen
  -- An incoming payment from another internal account is checked together with the corresponding outgoing payment.
  union select a.sender_platform_id, a.sender_transaction_id from seen s
    join arrival a on a.platform_id = s.platform_id and a.transaction_id = s.id
  union select t.platform_id, t.id from since s
    join transaction t on t.platform_id = s.platform_id and t.status in ('CREATED', 'PENDING', 'PROCESSING')
  union select q.platform_id, q.transaction_id from since s
    join quote q on q.platform_id = s.platform_id and q.status in ('PENDING', 'PROCESSING')
  union select platform_id, id from transaction where refund_reference is not null and refund_settled_at is null
  union select platform_id, transaction_id from rail_order where due_at is not null
  order by 1, 2`;

/** For a platform that is not in the checkpoint, all rows are new. */
const beginnings = `select array_agg(platform_id) as platforms, array_agg(sequence::text) as sequences, array_agg(first_journal) as journals
  from (
    select p.id as platform_id, coalesce(m.sequence, 0) as sequence, case when m.journal_at is null
      then '00000000-0000-0000-0000-000000000000'
      else (lpad(to_hex((extract(epoch from least(m.journal_at, e.oldest, o.oldest) - interval '${margin}') * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid end as first_journal
    from platform p
    left join audit_mark m on m.platform_id = p.id
    left join lateral (select min(e.occurred_at) as oldest from stored_event e where e.platform_id = p.id and e.sequence > m.sequence) e on true
    left join (select platform_id, min(occurred_at) as oldest from outbox group by platform_id) o on o.platform_id = p.id
  ) beginnings`;

/** Payments per chunk. Postgres underestimates this number, and would join larger chunks row by row. */
const chunkSize = 500;

/** Finds the rows since the checkpoint. Disables sequential scans in the transaction, because they would be slower. */
export async function findRowsSince(client: pg.Client) {
  await client.query('set local enable_seqscan = off');
  const { rows } = await client.query<Record<'platforms' | 'sequences' | 'journals', string[] | null>>(beginnings);
  const [begin] = rows;
  const withSince = (query: string, { platforms, ids }: Chunk = { platforms: [], ids: [] }) => ({
    text: query,
    values: [begin?.platforms ?? [], begin?.sequences ?? [], begin?.journals ?? [], platforms, ids],
  });

  async function run(query: string, chunk?: Chunk): Promise<Record<string, unknown>[]> {
    return (await client.query(withSince(`with ${parameters} ${query}`, chunk))).rows;
  }

  /** @param onChunk called before each chunk with the number of payments up to its end, and the total number */
  async function* payments(onChunk: (done: number, all: number) => void): AsyncGenerator<Chunk> {
    await client.query(withSince(`declare payments_since scroll cursor for with ${parameters}, ${paymentsSince}`));
    const { rowCount: all } = await client.query('move forward all in payments_since');
    await client.query('move absolute 0 in payments_since');
    for (let done = 0; ; ) {
      const { rows } = await client.query<{ platform_id: string; id: string }>(
        `fetch forward ${chunkSize} from payments_since`,
      );
      if (rows.length === 0) break;
      done += rows.length;
      onChunk(done, all ?? done);
      yield { platforms: rows.map((row) => row.platform_id), ids: rows.map(({ id }) => id) };
    }
    await client.query('close payments_since');
  }

  return { run, payments };
}

export interface Chunk {
  readonly platforms: readonly string[];
  readonly ids: readonly string[];
}
