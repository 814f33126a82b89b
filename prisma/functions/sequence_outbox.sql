-- Moves committed events from the outbox to the feed, oldest first: gives each the next number of its platform, and
-- notifies all instances once. Rows are deleted, not passed by a moving cursor, so an event that commits late is
-- numbered late and never missed. Only one caller runs at a time (the advisory lock of the sequencer), so nobody moves
-- a row between the first read and the delete. Planned once per connection, by keys, because the outbox is empty at
-- times.
create or replace function sequence_outbox(p_limit int) returns int
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_heads text[];
  v_count int;
  v_epoch int;
begin
  select epoch into v_epoch from feed_epoch order by id desc limit 1;
  with taken as (
    delete from outbox where ctid = any (array(select ctid from outbox order by id limit p_limit)) returning *
  ), counted as (
    select platform_id, count(*) as events from taken group by platform_id
  ), heads as (
    insert into feed_head as h (platform_id, sequence, epoch)
    select platform_id, events, v_epoch from counted
    on conflict (platform_id) do update set sequence = h.sequence + excluded.sequence, epoch = excluded.epoch
    returning h.platform_id, h.sequence
  ), placed as (
    insert into stored_event (platform_id, sequence, id, type, occurred_at, transaction_id, quote_id, account_id, customer_id,
                              version, previous_status, status, reason, terminal, old_balance, new_balance, snapshot, epoch)
    select t.platform_id, h.sequence - c.events + row_number() over (partition by t.platform_id order by t.id),
           t.event_id, t.type, t.occurred_at, t.transaction_id, t.quote_id, t.account_id, t.customer_id,
           t.version, t.previous_status, t.status, t.reason, t.terminal, t.old_balance, t.new_balance, t.snapshot, v_epoch
    from taken t join counted c using (platform_id) join heads h using (platform_id)
  )
  select array_agg(h.platform_id::text || ':' || h.sequence), coalesce(sum(c.events), 0)::int into v_heads, v_count
  from heads h join counted c using (platform_id);

  -- A notification has less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;
