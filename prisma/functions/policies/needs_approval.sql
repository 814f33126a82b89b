-- Decides whether a policy requires a second person to approve a payment. A policy may require this for all payments,
-- for those above an amount (or in a currency for which it sets no amount), or for those to a receiver that the
-- policy's subject has not paid yet. Undelivered and returned payments do not count.
create or replace function needs_approval(p_policy policy, p_spend jsonb) returns boolean
  language plpgsql stable
as $$
declare
  v_account uuid := split_part(p_spend ->> 'account_id', ':', 2);
  v_address text := p_spend ->> 'uma_address';
begin
  if (p_policy.approval ->> 'always')::boolean or p_policy.approval -> 'above' <> '[]' and not exists (
      select from jsonb_to_recordset(p_policy.approval -> 'above') as l(currency text, amount bigint)
      where l.currency = p_spend ->> 'currency' and l.amount >= (p_spend ->> 'amount')::bigint) then
    return true;
  elsif not (p_policy.approval ->> 'newReceivers')::boolean then
    return false;
  elsif v_account is not null then
    return not exists (
      select from transaction t
      where t.platform_id = p_policy.platform_id and t.destination_account_id = v_account and is_payment_of(p_policy, t));
  else
    return not exists (
      select from transaction t
      where t.platform_id = p_policy.platform_id and t.destination_uma_address = v_address and is_payment_of(p_policy, t));
  end if;
end
$$;
