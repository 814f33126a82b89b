-- Groups of plans of background work that share a transaction: each group is done or refused as a whole, on its own, in
-- this order. Answers as commit_group does, once for each.
create or replace function commit_groups(p_groups jsonb) returns setof jsonb
  language plpgsql
as $$
begin
  perform lock_plans(jsonb_path_query_array(p_groups, '$[*][*]'));
  for v_at in 0 .. jsonb_array_length(p_groups) - 1 loop
    return next commit_group(p_groups -> v_at);
  end loop;
end
$$;
