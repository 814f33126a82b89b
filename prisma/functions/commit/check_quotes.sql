-- The part of check_plan for quotes whose status a plan changes. The clock is read while the lock is held, so a quote
-- that expired while the command was waiting counts as expired.
create or replace function check_quotes(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select r.refusal
    from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], expiry text, is_new boolean)
    left join quote q on q.platform_id = p_platform and q.id = m.id,
    lateral (select case
      when q.id is null then jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', m.id)
      -- Canceling a quote makes it expire at once, before expires_at.
      when q.status = 'EXPIRED' then
        jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', q.id, 'expiresAt', least(q.expires_at, q.updated_at))
      when q.status = 'PENDING' and m.expiry = 'before' and clock_timestamp() >= q.expires_at then
        jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', q.id, 'expiresAt', q.expires_at)
      when q.status::text <> all (m."from") or m.expiry = 'after' and clock_timestamp() < q.expires_at then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', q.id, 'status', q.status) end as refusal) r
    where m.is_new is not true and r.refusal is not null limit 1);
end
$$;
