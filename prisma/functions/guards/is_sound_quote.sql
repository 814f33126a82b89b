-- The check constraint on quote: returns whether a quote's columns are consistent. See is_sound_account for why this is
-- a function.
create or replace function is_sound_quote(q quote) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return q.total_sending_amount between 1 and 9000000000000000
    and q.total_receiving_amount between 1 and 9000000000000000
    and q.fees_included between 0 and q.total_sending_amount
    and q.platform_fee between 0 and q.fees_included
    and q.exchange_rate > 0
    -- The rail takes the whole amount less the platform's fee.
    and (q.rate_lock is null or (
      (q.rate_lock ->> 'sent')::bigint = q.total_sending_amount - q.platform_fee
      and (q.rate_lock ->> 'received')::bigint = q.total_receiving_amount
      and (q.rate_lock ->> 'reference') is not null) is true)
    and case q.source_kind
          when 'ACCOUNT' then q.source_account_id is not null
          when 'REALTIME_FUNDING' then q.source_account_id is null
          else false
        end
    and case q.destination_kind
          when 'ACCOUNT' then q.destination_account_id is not null
          when 'UMA_ADDRESS' then q.destination_uma_address is not null
          else false
        end;
end
$$;
