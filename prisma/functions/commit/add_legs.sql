-- Adds each leg's amount to its account's sum in p_sums ({account: sum}). Returns the new sums.
create or replace function add_legs(p_sums jsonb, p_legs jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_account text;
begin
  for v_at in 0 .. jsonb_array_length(p_legs) - 1 loop
    v_account := p_legs -> v_at ->> 'account';
    p_sums := p_sums || jsonb_build_object(
      v_account, coalesce((p_sums ->> v_account)::bigint, 0) + (p_legs -> v_at ->> 'amount')::bigint);
  end loop;
  return p_sums;
end
$$;
