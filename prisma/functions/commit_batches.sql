-- Commits plans that share a transaction. A group is a list of {platform, plan} that happen together or not at all: one plan, as
-- most commands and outcomes are, or the two sides of a payment between platforms. A batch is a list of groups of which none
-- changes what another is judged by: the caller sees to that (src/ledger/batches.ts). Each group is done or refused on its own,
-- as if they came one after another. Answers, once for each group, in the order of the batches:
--   {outcome: now, refusal, result}    it happened now; or it did not, and why; and the row that its plan names as its result
--   {outcome: first, refusal, result}  what came of it when its idempotency key was first used
--   {outcome: mismatch}                its idempotency key was used for something else
-- All locks come first; then each batch is checked, applied and concluded (commit_batch).
-- Every statement here and below is planned once per connection and kept, since planning took longer than carrying out; and by
-- keys, row by row, since the tables may have been empty then.
create or replace function commit_batches(p_batches jsonb) returns jsonb[]
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_answers jsonb[] := '{}';
begin
  perform lock_plans(jsonb_path_query_array(p_batches, '$[*][*][*]'));
  for v_at in 0 .. jsonb_array_length(p_batches) - 1 loop
    v_answers := v_answers || commit_batch(p_batches -> v_at);
  end loop;
  return v_answers;
end
$$;
