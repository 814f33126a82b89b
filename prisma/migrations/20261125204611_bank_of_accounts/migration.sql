-- AlterTable
ALTER TABLE "account" ADD COLUMN     "bank" TEXT;

-- One external account that is not INACTIVE per owner, currency, bank and identifier.
DROP INDEX "account_external_identifier";
CREATE UNIQUE INDEX "account_external_identifier" ON "account" ("platform_id", "customer_id", "currency", "account_type", "bank", "identifier") NULLS NOT DISTINCT WHERE "kind" = 'EXTERNAL' AND "status" <> 'INACTIVE';

-- A view has the columns that its table had when it was made.
CREATE OR REPLACE VIEW "serving"."account" AS
  SELECT * FROM "public"."account" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;

-- Returns the fields of an account that the outcome of an order may need, as JSON. The whole row costs several times as
-- much to write and to read. Stable, like to_json: only then is it inlined into the statement that calls it.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier, 'accountInfo', a.account_info)
$$;

-- The part of check_plan for external accounts that a plan changes. A deleted one does not change, and a
-- frozen one is not deleted. A change with a version
-- is valid only for that version of the account. One without a status leaves it as it is.
create or replace function check_accounts(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, version int, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    if v_account.frozen_at is not null and (v_move."set" ->> 'is_deleted')::boolean then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_move.id, 'customerId', v_account.customer_id);
    end if;
    -- Its owner may have registered it again while it was INACTIVE.
    select a.id into v_other from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.status <> 'INACTIVE' and v_move."to" <> 'INACTIVE' and a.id <> v_account.id
      and a.customer_id is not distinct from v_account.customer_id and a.currency = v_account.currency
      and a.account_type = v_account.account_type and a.identifier = v_account.identifier
      and a.bank is not distinct from v_account.bank limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_other);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for customers and external accounts that a plan inserts. Only one customer that is not deleted
-- has a UMA address, and an owner has only one account with an identifier at a bank that is not INACTIVE. A frozen customer registers no new account outside, and
-- a frozen account is not registered again, also while it is INACTIVE.
create or replace function check_registrations(p_platform uuid, p_insert jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  -- Another platform's customer is not named.
  select case when c.platform_id = p_platform then c.id end into v_id from jsonb_populate_recordset(null::customer, p_insert -> 'customer') n
  join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1;
  if found then
    return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS', 'id', v_id);
  end if;
  select a.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL'
    and (a.status <> 'INACTIVE' or a.frozen_at is not null)
    and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
    and a.account_type = n.account_type and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_id);
  end if;
  select c.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join customer c on c.platform_id = p_platform and c.id = n.customer_id and c.frozen_at is not null
  where n.kind = 'EXTERNAL' limit 1;
  if found then
    return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
  end if;
  return null;
end
$$;

-- Before update on account: the balance changes only through postings (apply_posting), owner, currency and details never
-- change, and the status of an external account changes only along external_account_move. An event stores
-- what may change: a column that is not refused here is in account_state and account_as_of.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency, new.funding_instructions,
      new.account_type, new.account_info, new.identifier, new.bank, new.beneficiary)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency, old.funding_instructions,
      old.account_type, old.account_info, old.identifier, old.bank, old.beneficiary) then
    raise exception 'account %: its owner, currency and details cannot change', old.id using errcode = 'LG002';
  end if;
  if new.posted <> old.posted and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting', old.id using errcode = 'LG004';
  end if;
  -- Two nested conditions: combined with `exists`, the first would cost a statement of its own.
  if new.status is distinct from old.status then
    if not exists (select from external_account_move m where m."from" = old.status and m."to" = new.status) then
      raise exception 'external account %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
    end if;
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Tells whether the columns of an account are consistent, and its balance is not negative: the check constraint of its
-- rows. It is a function of the row, because Postgres parses a plain check constraint again in every statement, which
-- took a quarter of the time to write a transaction. A function is parsed once.
create or replace function is_sound_account(a account) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return a.posted >= 0
    and case a.kind
          when 'INTERNAL' then a.status is null and a.account_type is null and a.account_info is null
            and a.identifier is null and a.bank is null and a.beneficiary is null and not a.default_uma_deposit_account
            and not a.is_deleted
          else a.status is not null and a.account_type is not null and a.account_info is not null
            and a.identifier is not null and a.posted = 0
            and (not a.is_deleted or a.status = 'INACTIVE' and not a.default_uma_deposit_account)
        end;
end
$$;
