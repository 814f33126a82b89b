-- Refuses every change for which a trigger calls it. A mistake is corrected by a new record.
create or replace function refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'LG001';
end
$$;
