-- Moves committed events from the outbox to the feed, oldest first: gives each event its platform's next number, and
-- notifies all instances once. Rows are deleted instead of being skipped with a moving cursor, so an event that commits
-- late is numbered late but never missed. Only one caller runs at a time (the sequencer's advisory lock), so no other
-- session moves a row between the first read and the delete. The statements are planned once per connection, and always
-- use indexes, because the outbox may be empty when they are planned.
-- A moved row stays in the index as long as an old snapshot, such as a dump's, may still see it. Half a million such
-- rows would add 80 ms to each call. So each session remembers a limit, an id up to which no more rows can appear, and
-- reads only rows above it. Rows below a moved row may still be uncommitted, because an id is assigned before its
-- transaction commits. So the id of a moved row becomes the limit in three steps:
-- 1. Wait 15 seconds. By then, each statement that took a lower id has a transaction id or has been canceled.
-- 2. Wait until every transaction that was open at that moment has ended.
-- 3. Wait until the outbox has no row up to the id. From then on, none can appear.
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
  -- The limit, the id that may become the next limit, the time when that id was noted (in milliseconds), and the
  -- transaction id below which all transactions must have ended.
  v_past bigint[] := coalesce(nullif(current_setting('gateway.outbox_past', true), ''), '{0,0,0,0}');
  v_now bigint := extract(epoch from clock_timestamp()) * 1000;
  v_last bigint;
begin
  select epoch into v_epoch from feed_epoch order by id desc limit 1;
  with taken as (
    delete from outbox where ctid = any (array(select ctid from outbox where id > v_past[1] order by id limit p_limit)) returning *
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
  select array_agg(h.platform_id::text || ':' || h.sequence), coalesce(sum(c.events), 0)::int, (select max(t.id) from taken t)
  into v_heads, v_count, v_last
  from heads h join counted c using (platform_id);

  if v_past[2] = 0 then
    if v_last > v_past[1] then
      v_past := array[v_past[1], v_last, v_now, 0];
    end if;
  elsif v_past[4] = 0 then
    if v_now < v_past[3] then
      v_past[3] := v_now;
    elsif v_now - v_past[3] > 15000 then
      v_past[4] := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    end if;
  elsif pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= v_past[4] then
    -- The transactions to wait for have ended, and this statement sees everything that they committed.
    if not exists (select from outbox where id > v_past[1] and id <= v_past[2]) then
      v_past := array[v_past[2], 0, 0, 0];
    end if;
  end if;
  perform set_config('gateway.outbox_past', v_past::text, false);

  -- A notification must be shorter than 8,000 bytes; each platform takes about 57 bytes.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;
