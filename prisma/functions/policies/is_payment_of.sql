-- Tells whether a payment was delivered, and is one that a policy limits: of its customer or platform, or begun by its token or one
-- that this has made.
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
