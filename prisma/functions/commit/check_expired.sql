-- The part of check_plan for quotes that are paid after being marked EXPIRED. Such a quote stays EXPIRED and can be
-- paid only once. Its payment's journals, read while the quote is locked, show whether it has already been paid.
create or replace function check_expired(p_platform uuid, p_quotes jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select case when q.id is null then jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', m.id)
      else jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', q.id, 'status', q.status) end
    from jsonb_to_recordset(p_quotes) as m(id uuid) left join quote q on q.platform_id = p_platform and q.id = m.id
    where q.id is null or q.status <> 'EXPIRED'
      or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = q.transaction_id)
    limit 1);
end
$$;
