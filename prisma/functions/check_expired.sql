-- The part of check_plan for quotes that are paid after they were marked EXPIRED. Such a quote does not change and is
-- paid once. The journals of its payment, under the lock of the quote, show whether it was paid before.
create or replace function check_expired(p_platform uuid, p_quotes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_status quote_status;
  v_transaction uuid;
begin
  for v_at in 0 .. jsonb_array_length(p_quotes) - 1 loop
    v_id := (p_quotes -> v_at ->> 'id')::uuid;
    select status, transaction_id into v_status, v_transaction from quote where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    if v_status <> 'EXPIRED'
       or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = v_transaction) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;
