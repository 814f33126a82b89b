-- What a group of plans changes or is judged by: the ids of quotes, transactions, orders, and accounts whose balances
-- move or will, also by new payments to them; and its idempotency key. Two groups that have none of it in common can both be found possible before either
-- happens. Not what many plans may only look at: the customers and the accounts outside that must be fit to take part.
create or replace function names_in(p_group jsonb) returns text[]
  language sql stable parallel safe
as $$
  select (
    uuids(jsonb_path_query_array(p_group, '$[*].plan.*[*].id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.journals[*].legs[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.room[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.insert.transaction[*].destination_account_id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.transactions[*].set.destination_account_id'))
  )::text[] || (p_group #>> '{0,plan,claim,operation}' || ' ' || (p_group #>> '{0,plan,claim,key}'))
$$;
