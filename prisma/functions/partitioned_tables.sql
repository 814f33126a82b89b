-- Names the tables that are partitioned by time: how long a partition is (a word for date_trunc), and for how long its rows are
-- stored, from its end (decision 6).
create or replace function partitioned_tables() returns table (name text, span text, retention interval)
  language sql immutable parallel safe
as $$
  values ('idempotency_record', 'month', interval '30 days'),
         ('webhook_delivery', 'month', interval '30 days'),
         ('webhook_attempt', 'month', interval '30 days')
$$;
