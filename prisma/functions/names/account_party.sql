-- Returns the fields of an account that the outcome of an order may need, as JSON. The whole row would cost several
-- times as much to write and to read. The function is declared stable, like to_json, so that Postgres inlines it into
-- the calling statement.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier, 'accountInfo', a.account_info)
$$;
