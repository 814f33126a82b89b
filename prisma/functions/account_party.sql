-- What the outcome of a rail's order may need of an account that takes part in it, as JSON text: the whole row costs several
-- times as much to write and to read. Stable, as to_json is: only then is it built into the statement that calls it.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier)
$$;
