-- Locks the plans' idempotency keys in a fixed order. A call whose key is locked waits until the first call with
-- that key has ended, but no longer than lock_timeout.
create or replace function lock_claims(p_plans jsonb) returns void
  language plpgsql
as $$
begin
  if jsonb_array_length(p_plans) = 1 then
    -- First tries to lock the key without waiting, in an expression, because that costs less than a statement.
    if pg_try_advisory_xact_lock(claim_lock((p_plans #>> '{0,platform}')::uuid, p_plans #> '{0,plan,claim}')) then
      return;
    end if;
  end if;
  perform pg_advisory_xact_lock(c.lock) from (
    select distinct claim_lock(p.platform, p.plan -> 'claim') as lock
    from jsonb_to_recordset(p_plans) as p(platform uuid, plan jsonb) where p.plan ? 'claim' order by 1
  ) c;
end
$$;
