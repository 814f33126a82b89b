-- After deliveries are deleted, with their endpoint or one by one: deletes their attempts.
create or replace function forget_attempts() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  delete from webhook_attempt a using gone g where a.platform_id = g.platform_id and a.delivery_id = g.id;
  return null;
end
$$;
