-- Returns whether a list of groups contains at least two legs on the same account.
create or replace function moves_account_twice(p_groups jsonb) returns boolean
  language plpgsql
as $$
declare
  v_accounts uuid[] := uuids(jsonb_path_query_array(p_groups, '$[*][*].plan.journals[*].legs[*].account'));
begin
  return cardinality(v_accounts) > (select count(distinct a) from unnest(v_accounts) a);
end
$$;
