-- Triggers call this to refuse a change. A mistake is corrected by adding a new record.
create or replace function refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'LG001';
end
$$;
