-- Commands that share a transaction, a list of {platform, plan}: each is done or refused on its own, in this order. Answers
-- as commit_plan does, once for each.
create or replace function commit_plans(p_plans jsonb) returns setof jsonb
  language plpgsql
as $$
begin
  perform lock_plans(p_plans);
  for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
    return next commit_plan((p_plans -> v_at ->> 'platform')::uuid, p_plans -> v_at -> 'plan');
  end loop;
end
$$;
