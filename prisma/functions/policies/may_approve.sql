-- Decides whether the holder of a token (p_makers: it and the tokens that it was made by) may approve a payment that another one has
-- begun. Not where one of the two was made by the other, directly or not: one of their holders has both. And not where the policy of a
-- token demands the approval, and limits the approver, too.
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
