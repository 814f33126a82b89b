-- Returns whether a payment was delivered and counts toward a policy: it belongs to the policy's customer or platform,
-- or was requested by the policy's token or by a token that descends from it (token_makers).
create or replace function is_payment_of(p_policy policy, t transaction) returns boolean
  language plpgsql stable
as $$
begin
  return t.status = 'COMPLETED' and t.created_by is not null and case p_policy.subject_type
    when 'Platform' then true
    when 'Customer' then t.customer_id = p_policy.subject_id
    else p_policy.subject_id = any (makers_of(t.platform_id, t.created_by)) end;
end
$$;
