-- Whether an account's columns fit together, and no more is gone than it had: the check on its rows. Written as a function of
-- the row, because Postgres reads the text of a plain check anew in every statement, which took a quarter of the time of writing
-- a transaction; a function's it keeps.
create or replace function is_sound_account(a account) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return a.posted >= 0
    and case a.kind
          when 'INTERNAL' then a.status is null and a.account_type is null and a.account_info is null
            and a.identifier is null and a.beneficiary is null and not a.default_uma_deposit_account
          else a.status is not null and a.account_type is not null and a.account_info is not null
            and a.identifier is not null and a.posted = 0
        end;
end
$$;
