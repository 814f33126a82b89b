-- The part of apply_plans for plans that change customers or external accounts, or the time of an account's next check.
create or replace function apply_owner_changes(p_platform uuid, p_plan jsonb) returns void
  language plpgsql
as $$
declare
  v_item jsonb;
  v_customer customer;
  v_account account;
  v_tokens uuid[];
begin
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'customers'), 0) - 1 loop
    v_item := p_plan -> 'customers' -> v_at;
    select * into v_customer from customer where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    v_customer := jsonb_populate_record(v_customer, v_item -> 'set');
    update customer set
      uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
      name = v_customer.name, search_name = v_customer.search_name, birth_date = v_customer.birth_date,
      nationality = v_customer.nationality,
      registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
      address = v_customer.address, beneficial_owners = v_customer.beneficial_owners, metadata = v_customer.metadata
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    -- Revokes a deleted customer's app tokens, including those for its quotes and transactions. Like every revocation,
    -- this locks the tokens in id order.
    if v_customer.is_deleted then
      v_tokens := array(
        select id from client_token
        where platform_id = p_platform and owner_id = v_customer.id and revoked_at is null
          and expires_at > statement_timestamp()
        order by id for no key update);
      update client_token set revoked_at = clock_ms() where platform_id = p_platform and id = any (v_tokens);
    end if;
  end loop;

  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'accounts'), 0) - 1 loop
    v_item := p_plan -> 'accounts' -> v_at;
    select * into v_account from account where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    v_account := jsonb_populate_record(v_account, coalesce(v_item -> 'set', '{}'));
    -- A new default deposit account replaces the old one, as in apply_registrations.
    if (v_item -> 'set' ->> 'default_uma_deposit_account')::boolean then
      update account set default_uma_deposit_account = false
      where platform_id = p_platform and customer_id = v_account.customer_id and id <> v_account.id
        and default_uma_deposit_account;
    end if;
    update account set
      status = coalesce((v_item ->> 'to')::external_account_status, status),
      status_reason = coalesce(v_item ->> 'reason', status_reason),
      beneficiary_verification_status = v_account.beneficiary_verification_status,
      beneficiary_verified_name = v_account.beneficiary_verified_name,
      default_uma_deposit_account = v_account.default_uma_deposit_account,
      platform_account_id = v_account.platform_account_id,
      metadata = v_account.metadata,
      is_deleted = v_account.is_deleted
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;
  -- Schedules the rail's next check of an account, or deletes the check after the rail's final answer.
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'checks'), 0) - 1 loop
    v_item := p_plan -> 'checks' -> v_at;
    if v_item ->> 'due_in_ms' is null then
      delete from account_check where platform_id = p_platform and account_id = (v_item ->> 'account_id')::uuid;
    else
      update account_check set due_at = clock_ms() + (v_item ->> 'due_in_ms')::bigint * interval '1 millisecond'
      where platform_id = p_platform and account_id = (v_item ->> 'account_id')::uuid;
    end if;
  end loop;
end
$$;
