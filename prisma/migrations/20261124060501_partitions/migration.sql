-- idempotency_record, webhook_delivery and webhook_attempt become partitioned tables (decision 89). The table that was there
-- becomes the first partition as it is: no row is written again, none is read, and no index is built. Where it is empty, it goes.
-- Partitions are in a schema of their own, to which nobody has rights: their rows are reached through the partitioned tables.
CREATE SCHEMA "partitions";

-- What the partitioned tables will have of their own
DROP TRIGGER "announce" ON "webhook_delivery";
ALTER TABLE "webhook_attempt" DROP CONSTRAINT "webhook_attempt_platform_id_delivery_id_fkey";
ALTER TABLE "webhook_delivery" DROP CONSTRAINT "webhook_delivery_platform_id_event_sequence_fkey";
DO $$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY array['idempotency_record', 'webhook_delivery', 'webhook_attempt'] LOOP
    EXECUTE format('DROP POLICY "all_platforms" ON %I', v_table);
    EXECUTE format('DROP POLICY "one_platform" ON %I', v_table);
    EXECUTE format('REVOKE ALL ON %I FROM "gateway_serving", "gateway_work"', v_table);
    EXECUTE format('ALTER TABLE %I SET SCHEMA "partitions"', v_table);
    EXECUTE format('ALTER TABLE "partitions".%I RENAME TO %I', v_table, v_table || '_first');
  END LOOP;
END
$$;

-- AlterTable: a key is unique in each partition, by the primary key of the partition, and over all of them by claim_once
CREATE TABLE "idempotency_record" (LIKE "partitions"."idempotency_record_first" INCLUDING DEFAULTS) PARTITION BY RANGE ("created_at");
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_key_form" CHECK (length("key") BETWEEN 1 AND 255 AND "key" !~ '[^\x21-\x7e]');

-- AlterTable: of two deliveries of an event to an endpoint in one partition its unique index knows, of others guard_delivery
CREATE TABLE "webhook_delivery" (LIKE "partitions"."webhook_delivery_first" INCLUDING DEFAULTS,
  CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("platform_id", "id")) PARTITION BY RANGE ("id");
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_next" CHECK (("status" = 'PENDING') = ("next_attempt_at" IS NOT NULL));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_platform_id_endpoint_id_fkey"
  FOREIGN KEY ("platform_id", "endpoint_id") REFERENCES "webhook_endpoint"("platform_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE INDEX "webhook_delivery_platform_id_endpoint_id_id_idx" ON "webhook_delivery" ("platform_id", "endpoint_id", "id");
CREATE INDEX "webhook_delivery_platform_id_event_sequence_idx" ON "webhook_delivery" ("platform_id", "event_sequence");
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" ("platform_id", "endpoint_id", "next_attempt_at") WHERE "status" = 'PENDING';
CREATE INDEX "webhook_delivery_leased" ON "webhook_delivery" ("platform_id", "endpoint_id") WHERE "leased_until" IS NOT NULL;
CREATE INDEX "webhook_delivery_questions" ON "webhook_delivery" ("next_attempt_at") WHERE "status" = 'PENDING' AND "question";
CREATE INDEX "webhook_delivery_undelivered" ON "webhook_delivery" ("platform_id", "endpoint_id", "id") WHERE "status" <> 'DELIVERED';

-- AlterTable
CREATE TABLE "webhook_attempt" (LIKE "partitions"."webhook_attempt_first" INCLUDING DEFAULTS,
  CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("platform_id", "delivery_id", "number")) PARTITION BY RANGE ("delivery_id");
CREATE INDEX "webhook_attempt_late" ON "webhook_attempt" ("delivery_id", "platform_id")
  WHERE "at" - uuid_v7_time("delivery_id") > interval '14 days';

-- Returns the lowest id (UUIDv7) of a moment: ids that were made before it sort below.
create or replace function uuid_v7_from(p_time timestamptz) returns uuid
  language sql stable strict parallel safe
as $$
  select (lpad(to_hex((date_part('epoch', p_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Names the tables that are partitioned by time: how long a partition is (a word for date_trunc), and for how long its rows are
-- stored, from its end (decision 6).
create or replace function partitioned_tables() returns table (name text, span text, retention interval)
  language sql immutable parallel safe
as $$
  values ('idempotency_record', 'month', interval '30 days'),
         ('webhook_delivery', 'month', interval '30 days'),
         ('webhook_attempt', 'month', interval '30 days')
$$;

-- Returns the partitions of all partitioned tables, from the catalog: the time of the rows in each, where the bounds may be ids
-- (UUIDv7). The first one may have no beginning. A default partition takes the rows for which there is no other.
create or replace function partitions()
  returns table (table_name text, name text, relation oid, starts timestamptz, ends timestamptz, is_default boolean)
  language plpgsql stable
  set timezone = 'UTC'
as $$
begin
  return query
  select b.table_name::text, b.name::text, b.relation,
         case when b.is_id then uuid_v7_time(b.lower::uuid) else b.lower::timestamptz end,
         case when b.is_id then uuid_v7_time(b.upper::uuid) else b.upper::timestamptz end,
         b.bound = 'DEFAULT'
  from (
    select t.relname as table_name, c.relname as name, c.oid as relation, k.atttypid = 'uuid'::regtype as is_id, e.bound,
           substring(e.bound from 'FROM \(''([^'']+)''\)') as lower, substring(e.bound from 'TO \(''([^'']+)''\)') as upper
    from pg_partitioned_table p
    join pg_class t on t.oid = p.partrelid and t.relnamespace = 'public'::regnamespace
    join pg_attribute k on k.attrelid = t.oid and k.attnum = p.partattrs[0]
    join pg_inherits i on i.inhparent = t.oid
    join pg_class c on c.oid = i.inhrelid
    cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) e
  ) b;
end
$$;

-- Before insert on idempotency_record: a key is claimed once in all partitions, each of which has a unique index of its own
-- only. It takes the lock of the key, which whoever commits a plan has already (lock_claims). So of two transactions the second
-- waits, and sees what the first has committed. A second row of the key is not inserted: the statement inserts no row, as one
-- with `on conflict do nothing`.
create or replace function claim_once() returns trigger
  language plpgsql
as $$
begin
  -- With an older snapshot it would not see what was committed while it waited.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'an idempotency key is claimed in a transaction that is read committed' using errcode = 'LG013';
  end if;
  perform pg_advisory_xact_lock(claim_lock(new.platform_id, jsonb_build_object('operation', new.operation, 'key', new.key)));
  if exists (select from idempotency_record r
             where r.platform_id = new.platform_id and r.operation = new.operation and r.key = new.key) then
    return null;
  end if;
  return new;
end
$$;

-- Before insert on webhook_delivery: an event is in the feed of its platform, and goes to an endpoint in one delivery. Each
-- partition has a unique index of its own only, so the endpoint is locked: nobody else makes a delivery to it meanwhile. A second
-- delivery is not inserted: the statement inserts no row, as one with `on conflict do nothing`.
create or replace function guard_delivery() returns trigger
  language plpgsql
as $$
begin
  perform from webhook_endpoint e where e.platform_id = new.platform_id and e.id = new.endpoint_id for no key update;
  -- Numbers have no gaps, and events are never deleted.
  if not exists (select from feed_head h where h.platform_id = new.platform_id
                   and new.event_sequence between 1 and h.sequence) then
    raise exception 'there is no event % in the feed', new.event_sequence using errcode = 'foreign_key_violation';
  end if;
  if exists (select from webhook_delivery d where d.platform_id = new.platform_id and d.endpoint_id = new.endpoint_id
               and d.event_sequence = new.event_sequence) then
    return null;
  end if;
  return new;
end
$$;

-- Before insert on webhook_attempt: its delivery is there. A foreign key would be checked over all rows of a partition whenever
-- one is dropped.
create or replace function guard_attempt() returns trigger
  language plpgsql
as $$
begin
  if not exists (select from webhook_delivery d where d.platform_id = new.platform_id and d.id = new.delivery_id) then
    raise exception 'there is no webhook delivery %', new.delivery_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;

-- After deliveries are deleted, with their endpoint or one by one: deletes their attempts.
create or replace function forget_attempts() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  delete from webhook_attempt a using gone g where a.platform_id = g.platform_id and a.delivery_id = g.id;
  return null;
end
$$;

-- Returns the answer to a plan that was applied or refused, with the row that it names as its result, in its present
-- state. Stores the answer under the idempotency key of the plan, for repeats.
create or replace function conclude_plan(p_platform uuid, p_plan jsonb, p_refusal jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_target jsonb := p_plan -> 'result';
  v_id uuid := v_target ->> 'id';
  v_row jsonb;
  v_result jsonb;
begin
  if p_refusal is null and v_target is not null then
    case v_target ->> 'type'
      when 'Transaction' then
        select to_jsonb(t) into v_row from transaction t where t.platform_id = p_platform and t.id = v_id;
      when 'Quote' then
        select to_jsonb(q) into v_row from quote q where q.platform_id = p_platform and q.id = v_id;
      when 'Customer' then
        select to_jsonb(c) into v_row from customer c where c.platform_id = p_platform and c.id = v_id;
      when 'Account' then
        select account_snapshot(a) into v_row from account a where a.platform_id = p_platform and a.id = v_id;
    end case;
    v_result := jsonb_build_object('type', v_target -> 'type', 'row', v_row);
  end if;
  -- Answers with status 403 or 404 are not stored: a later call with the key may succeed.
  if v_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'), p_refusal, v_result);
    if not found then
      raise exception 'the idempotency key % is claimed already', v_claim ->> 'key' using errcode = 'unique_violation';
    end if;
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;

-- Makes the next partition of a table that has partitions for less than seven days more, and returns its name; null where all
-- have. A partition costs every statement that looks for a key, so none is made earlier. Others wait for its locks for a tenth
-- of a second at most; then it fails, and is tried again later.
-- The rows of a default partition stay there. Where it has rows for the new partition, nobody has made partitions for long:
-- the new one begins with the next span, and until then the default partition takes the rows.
create or replace function make_partition() returns text
  language plpgsql
  security definer set search_path = public, pg_temp
  set timezone = 'UTC'
  set lock_timeout = '100ms'
as $$
declare
  v_table text;
  v_span text;
  v_from timestamptz;
  v_to timestamptz;
  v_is_id boolean;
  v_key text;
  v_bounds text[];
  v_taken boolean;
  v_name text;
  v_options text[];
begin
  -- Several processes call this: one makes the partition.
  if not pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) then
    return null;
  end if;
  select t.name, t.span, coalesce(max(p.ends), date_trunc(t.span, clock_timestamp())) into v_table, v_span, v_from
  from partitioned_tables() t left join partitions() p on p.table_name = t.name
  group by t.name, t.span
  having max(p.ends) is null or max(p.ends) < clock_timestamp() + interval '7 days'
  order by 3, 1 limit 1;
  if not found then
    return null;
  end if;
  select k.attname, k.atttypid = 'uuid'::regtype into v_key, v_is_id
  from pg_partitioned_table p join pg_attribute k on k.attrelid = p.partrelid and k.attnum = p.partattrs[0]
  where p.partrelid = v_table::regclass;
  for v_try in 1 .. 2 loop
    v_to := date_trunc(v_span, v_from) + ('1 ' || v_span)::interval;
    v_bounds := case when v_is_id then array[uuid_v7_from(v_from)::text, uuid_v7_from(v_to)::text]
                     else array[v_from::text, v_to::text] end;
    execute format('select exists (select from partitions.%I where %I >= %L and %I < %L)',
                   v_table || '_default', v_key, v_bounds[1], v_key, v_bounds[2]) into v_taken;
    exit when not v_taken;
    v_from := date_trunc(v_span, clock_timestamp()) + ('1 ' || v_span)::interval;
  end loop;
  v_name := v_table || to_char(v_from, '_YYYY_MM_DD');
  execute format('create table partitions.%I (like partitions.%I including all)', v_name, v_table || '_default');
  select reloptions into v_options from pg_class where oid = format('partitions.%I', v_table || '_default')::regclass;
  if v_options is not null then
    execute format('alter table partitions.%I set (%s)', v_name, array_to_string(v_options, ', '));
  end if;
  execute format('alter table partitions.%I enable row level security', v_name);
  execute format('alter table %I attach partition partitions.%I for values from (%L) to (%L)',
                 v_table, v_name, v_bounds[1], v_bounds[2]);
  return v_name;
end
$$;

-- Drops the oldest partition past its retention, and returns its name, or null when there is none. Webhook deliveries that are
-- not finished, or that were sent again since, move to the default partition, and their attempts with them; more than a
-- thousand hold their partition back. Attempts leave after their deliveries. Others wait for its locks for a tenth of a second
-- at most; then it fails, and is tried again later.
create or replace function drop_partition() returns text
  language plpgsql
  security definer set search_path = public, pg_temp
  set timezone = 'UTC'
  set lock_timeout = '100ms'
  set enable_seqscan = off
as $$
declare
  v_part record;
  v_first uuid;
  v_end uuid;
  v_since timestamptz;
  v_deliveries webhook_delivery[];
  v_attempts webhook_attempt[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) then
    return null;
  end if;
  for v_part in
    select p.*, t.retention from partitioned_tables() t join partitions() p on p.table_name = t.name
    where p.ends < clock_timestamp() - t.retention order by p.ends, p.table_name
  loop
    v_deliveries := null;
    v_attempts := null;
    v_since := clock_timestamp() - v_part.retention;
    v_first := coalesce(uuid_v7_from(v_part.starts), '00000000-0000-0000-0000-000000000000');
    v_end := uuid_v7_from(v_part.ends);
    continue when v_part.table_name = 'webhook_attempt'
      and exists (select from partitions() p where p.table_name = 'webhook_delivery'
                    and not p.is_default and coalesce(p.starts, '-infinity') < v_part.ends);
    -- From here on nobody reads or writes the table.
    execute format('lock table only %I in access exclusive mode', v_part.table_name);
    if v_part.table_name = 'webhook_delivery' then
      select array_agg(d) into v_deliveries from (
        select d from webhook_delivery d where d.id >= v_first and d.id < v_end and d.status = 'PENDING'
        union
        select d from webhook_delivery d where d.id >= v_first and d.id < v_end and d.leased_until is not null
        union
        -- The condition of the index webhook_attempt_late: sent again long after the usual attempts.
        select d from webhook_attempt a join webhook_delivery d on d.platform_id = a.platform_id and d.id = a.delivery_id
        where a.delivery_id >= v_first and a.delivery_id < v_end and a.at >= v_since
          and a.at - uuid_v7_time(a.delivery_id) > interval '14 days'
        limit 1001
      ) kept (d);
      continue when array_length(v_deliveries, 1) > 1000;
    elsif v_part.table_name = 'webhook_attempt' then
      select array_agg(a) into v_attempts from webhook_attempt a
      join webhook_delivery d on d.platform_id = a.platform_id and d.id = a.delivery_id
      where d.id >= v_first and d.id < v_end;
    end if;
    execute format('drop table partitions.%I', v_part.name);
    insert into webhook_delivery select d.* from unnest(v_deliveries) d;
    insert into webhook_attempt select a.* from unnest(v_attempts) a;
    return v_part.name;
  end loop;
  return null;
end
$$;

-- Deletes rows past their retention from the default partitions, some of each table, and returns how many. There are few: what
-- came while a partition was missing, and webhook deliveries that outlived theirs.
create or replace function delete_strays(p_limit int) returns int
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_since timestamptz := clock_timestamp() - (select min(retention) from partitioned_tables());
  v_count int;
  v_total int := 0;
begin
  delete from partitions.idempotency_record_default where ctid = any (array(
    select ctid from partitions.idempotency_record_default where created_at < v_since limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from partitions.webhook_delivery_default where ctid = any (array(
    select d.ctid from partitions.webhook_delivery_default d
    where d.status <> 'PENDING' and d.leased_until is null and d.id < uuid_v7_from(v_since)
      and not exists (select from webhook_attempt a
                      where a.platform_id = d.platform_id and a.delivery_id = d.id and a.at >= v_since)
    limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from partitions.webhook_attempt_default where ctid = any (array(
    select a.ctid from partitions.webhook_attempt_default a
    where a.delivery_id < uuid_v7_from(v_since)
      and not exists (select from webhook_delivery d where d.platform_id = a.platform_id and d.id = a.delivery_id)
    limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  return v_total + v_count;
end
$$;

CREATE TRIGGER "claim" BEFORE INSERT ON "idempotency_record" FOR EACH ROW EXECUTE FUNCTION claim_once();
CREATE TRIGGER "guard" BEFORE INSERT ON "webhook_delivery" FOR EACH ROW EXECUTE FUNCTION guard_delivery();
CREATE TRIGGER "announce" AFTER UPDATE ON "webhook_delivery" FOR EACH ROW
  WHEN (old."status" = 'PENDING' AND new."status" <> 'PENDING') EXECUTE FUNCTION announce_delivery();
CREATE TRIGGER "forget" AFTER DELETE ON "webhook_delivery" REFERENCING OLD TABLE AS "gone" FOR EACH STATEMENT EXECUTE FUNCTION forget_attempts();
CREATE TRIGGER "guard" BEFORE INSERT ON "webhook_attempt" FOR EACH ROW EXECUTE FUNCTION guard_attempt();

-- The wall, as it was
DO $$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY array['idempotency_record', 'webhook_delivery', 'webhook_attempt'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY "all_platforms" ON %I TO "gateway_work" USING (true)', v_table);
    EXECUTE format('CREATE POLICY "one_platform" ON %I TO "gateway_serving" USING ("platform_id" = current_setting(''gateway.platform'', true)::uuid)', v_table);
    EXECUTE format('GRANT SELECT ON %I TO "gateway_serving", "gateway_work"', v_table);
  END LOOP;
END
$$;
GRANT INSERT ON "idempotency_record", "webhook_delivery" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("result") ON "idempotency_record" TO "gateway_serving", "gateway_work";
GRANT UPDATE ON "webhook_delivery" TO "gateway_serving", "gateway_work";
GRANT INSERT ON "webhook_attempt" TO "gateway_work";
GRANT DELETE ON "idempotency_record", "webhook_delivery" TO "gateway_work";
REVOKE EXECUTE ON FUNCTION make_partition(), drop_partition(), delete_strays(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_partition(), drop_partition(), delete_strays(int) TO "gateway_work";

-- The default partitions, of which every new partition is a copy, and the first ones
DO $$
DECLARE
  v_table text;
  v_bound text;
  v_is_empty boolean;
BEGIN
  FOREACH v_table IN ARRAY array['idempotency_record', 'webhook_delivery', 'webhook_attempt'] LOOP
    SELECT substring(pg_get_constraintdef(oid) FROM '''([^'']+)''') INTO STRICT v_bound FROM pg_constraint
    WHERE conrelid = format('partitions.%I', v_table || '_first')::regclass AND conname = 'partition_bound';
    EXECUTE format('CREATE TABLE "partitions".%I (LIKE "partitions".%I INCLUDING ALL)', v_table || '_default', v_table || '_first');
    EXECUTE format('ALTER TABLE "partitions".%I DROP CONSTRAINT "partition_bound"', v_table || '_default');
    EXECUTE format('ALTER TABLE "partitions".%I ENABLE ROW LEVEL SECURITY', v_table || '_default');
    IF v_table = 'idempotency_record' THEN
      -- Records leave with their partition: nothing looks for them by their age.
      EXECUTE 'DROP INDEX "partitions"."idempotency_record_default_created_at_idx"';
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION "partitions".%I DEFAULT', v_table, v_table || '_default');
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM "partitions".%I)', v_table || '_first') INTO v_is_empty;
    IF v_is_empty THEN
      EXECUTE format('DROP TABLE "partitions".%I', v_table || '_first');
    ELSE
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION "partitions".%I FOR VALUES FROM (MINVALUE) TO (%L)', v_table, v_table || '_first', v_bound);
      EXECUTE format('ALTER TABLE "partitions".%I DROP CONSTRAINT "partition_bound"', v_table || '_first');
    END IF;
  END LOOP;
  WHILE make_partition() IS NOT NULL LOOP
    NULL;
  END LOOP;
END
$$;
