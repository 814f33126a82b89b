-- Commits plans that share a transaction. A group is a list of {platform, plan} that is applied as a whole or not at
-- all: a single plan, as for most commands and outcomes, or the two sides of a payment between platforms. A batch is a
-- list of groups; the caller ensures that they do not affect each other's checks, except through balances
-- (src/domain/ledger/batches.ts). Each group is applied or refused on its own, as if the groups were committed one
-- after another. Returns one answer for each group, in the order of the batches:
--   {outcome: now, refusal, result}    applied or refused by this call; result is the row that its plan names
--   {outcome: first, refusal, result}  the outcome of the first call with its idempotency key
--   {outcome: mismatch}                its idempotency key was used with different input
-- All locks are taken first; then each batch is checked, applied and concluded (commit_batch).
-- Runs with the owner's privileges: the serving and working roles have no other way to change money or statuses.
-- Each statement of this function and of those that it calls is planned once per connection, because planning it for
-- each call would take longer than executing it. The query plans find rows one by one, by their keys, because the
-- tables may be empty when the plans are made.
create or replace function commit_batches(p_batches jsonb) returns jsonb[]
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_answers jsonb[] := '{}';
  v_policies policy[] := lock_plans(jsonb_path_query_array(p_batches, '$[*][*][*]'));
begin
  for v_at in 0 .. jsonb_array_length(p_batches) - 1 loop
    if v_at > 0 and cardinality(v_policies) > 0 then
      v_policies := policies_now(v_policies);
    end if;
    v_answers := v_answers || commit_batch(p_batches -> v_at, v_policies);
  end loop;
  return v_answers;
end
$$;
