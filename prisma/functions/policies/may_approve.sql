-- Decides whether a token may approve a payment that another token requested. p_makers contains the approver's token
-- and the tokens that it descends from. The token may not approve if either token descends from the other, because one
-- person could hold both, or if a policy that requires the approval also limits the approver's token.
create or replace function may_approve(t transaction, p_token uuid, p_makers uuid[]) returns boolean
  language plpgsql stable
as $$
begin
  return split_part(t.created_by, ':', 2)::uuid <> all (p_makers) and p_token <> all (makers_of(t.platform_id, t.created_by))
    and not exists (
      select from policy_use u join policy p on p.platform_id = u.platform_id and p.id = u.policy_id
      where u.platform_id = t.platform_id and u.transaction_id = t.id and p.approval is not null and p.subject_id = any (p_makers));
end
$$;
