-- The next migration but one makes each of these tables the first partition of a partitioned one. What will be its upper bound is
-- a check of its rows from now on, so that nothing has to be read then. The bound is a month ahead or more.
DO $$
DECLARE
  v_until timestamptz := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC' + interval '2 months') AT TIME ZONE 'UTC';
  v_first_id uuid := (lpad(to_hex((date_part('epoch', v_until) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
BEGIN
  SET LOCAL timezone = 'UTC';
  EXECUTE format('ALTER TABLE "idempotency_record" ADD CONSTRAINT "partition_bound" CHECK ("created_at" < %L) NOT VALID', v_until);
  EXECUTE format('ALTER TABLE "webhook_delivery" ADD CONSTRAINT "partition_bound" CHECK ("id" < %L) NOT VALID', v_first_id);
  EXECUTE format('ALTER TABLE "webhook_attempt" ADD CONSTRAINT "partition_bound" CHECK ("delivery_id" < %L) NOT VALID', v_first_id);
END
$$;
