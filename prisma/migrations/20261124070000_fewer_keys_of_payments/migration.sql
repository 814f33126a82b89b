-- What triggers find anyway needs no foreign key: each looked its row up again, and locked it.
ALTER TABLE "transaction" DROP CONSTRAINT "transaction_platform_id_customer_id_fkey",
  DROP CONSTRAINT "transaction_platform_id_source_account_id_fkey",
  DROP CONSTRAINT "transaction_platform_id_destination_account_id_fkey";
ALTER TABLE "journal" DROP CONSTRAINT "journal_platform_id_transaction_id_fkey";

-- No update of them is heap-only, since a status is in an index: free space in their pages is of no use (bench/LOG.md).
ALTER TABLE "transaction" RESET (fillfactor);
ALTER TABLE "quote" RESET (fillfactor);

-- After every insert or update of accounts: writes the event of that version. A new balance, status or verification has
-- its own type; any other change is an ACCOUNT_CHANGE, which only the feed shows. It stores of
-- the account what may change (account_state).
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' and tg_op = 'UPDATE' and new.posted <> old.posted then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            old.posted, new.posted,
            -- Few internal accounts have any of it.
            case when num_nonnulls(new.frozen_at, new.metadata, new.platform_account_id, new.status_reason,
                                   new.beneficiary_verification_status, new.beneficiary_verified_name) > 0
              then account_state(new) - 'posted' end);
  elsif new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
                                   is distinct from (old.status, old.beneficiary_verification_status)) then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, account_state(new));
  else
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_CHANGE', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, account_state(new));
  end if;
  return null;
end
$$;

-- The part of check_plan for accounts whose balances a plan changes: none may go below zero, and none above its bound
-- (check_balance). The balance of a frozen account, or of a frozen customer, does not fall. Whoever freezes one locks the account
-- first, so the lock decides whether a payment was before. What is credited and sent on in one plan is no fall.
create or replace function check_balances(p_platform uuid, p_journals jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_legs jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_account record;
  v_change numeric;
  v_gain numeric;
  v_refusal jsonb;
begin
  -- The change of each account, in one pass over the legs.
  for v_journal in 0 .. jsonb_array_length(p_journals) - 1 loop
    v_legs := p_journals -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_legs) - 1 loop
      continue when not v_legs -> v_at ? 'account';
      v_accounts := v_accounts || (v_legs -> v_at ->> 'account')::uuid;
      v_changes := v_changes || (v_legs -> v_at ->> 'amount')::bigint;
    end loop;
  end loop;
  if cardinality(v_accounts) = 0 then
    return null;
  end if;
  -- By their keys: with a join, the planner would read all accounts of the platform.
  for v_account in
    select a.id, a.posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at
    from account a left join customer c on c.platform_id = a.platform_id and c.id = a.customer_id
    where a.platform_id = p_platform and a.id = any (v_accounts) order by a.id
  loop
    v_change := 0;
    v_gain := 0;
    for v_at in 1 .. cardinality(v_changes) loop
      if v_accounts[v_at] = v_account.id then
        v_change := v_change + v_changes[v_at];
        v_gain := v_gain + greatest(v_changes[v_at], 0);
      end if;
    end loop;
    if v_change < 0 then
      if v_account.frozen_at is not null then
        return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
      end if;
      if v_account.owner_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
      end if;
    end if;
    if v_change < 0 and v_account.posted + v_change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id,
                                'spendable', v_account.posted::text, 'needed', (-v_change)::text,
                                'currency', v_account.currency);
    end if;
    if v_gain > 0 and v_account.posted + v_gain > 9000000000000000 then
      v_refusal := check_balance(v_account.id, v_account.posted, p_journals);
      if v_refusal is not null then
        return v_refusal || jsonb_build_object('currency', v_account.currency);
      end if;
    end if;
  end loop;
  return null;
end
$$;

-- After each insert of legs, for all of them at once: checks that each belongs to a journal of this transaction (a
-- committed journal is sealed), whose payment is of its platform, and is in a known currency. A journal without legs never commits
-- (check_journal). Journals, payments and currencies are never deleted, so foreign keys are not needed. They would check the same
-- again for each row.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that this transaction wrote the row.
  if exists (
    select from leg l
    where (select age(j.xmin) = 0 and (j.transaction_id is null or exists (
             select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id))
           from journal j where j.platform_id = l.platform_id and j.id = l.journal_id) is not true
      or (select c.code from currency c where c.code = l.currency) is null
  ) then
    if exists (select from leg l where not exists (select from currency c where c.code = l.currency)) then
      raise exception 'a leg is in an unknown currency' using errcode = 'foreign_key_violation';
    end if;
    if exists (select from leg l join journal j on j.platform_id = l.platform_id and j.id = l.journal_id and age(j.xmin) = 0
               where j.transaction_id is not null and not exists (
                 select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id)) then
      raise exception 'a journal is for a payment that its platform does not have' using errcode = 'foreign_key_violation';
    end if;
    raise exception 'a leg was added to a journal that is sealed' using errcode = 'LG005';
  end if;
  return null;
end
$$;

-- Before insert on transaction: it starts CREATED or PENDING, with version 1, at the time in its id. Every later status
-- is a move. It stores the names of the accounts at its ends, as they are now: later changes of accounts and owners
-- do not change what was paid. A customer or account takes part in it, each that does is of its platform (name_party finds the
-- accounts), and its currencies are known. None of these is ever deleted, so one check is enough. Foreign keys would look each up
-- again, and lock its row, which may be one that all transactions share.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
declare
  v_party record;
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  if num_nonnulls(new.customer_id, new.source_account_id, new.destination_account_id) = 0 then
    raise exception 'transaction %: nobody takes part in it', new.id using errcode = 'foreign_key_violation';
  end if;
  if not exists (select from currency where code = new.received_currency)
     or (new.sent_currency is not null and not exists (select from currency where code = new.sent_currency))
     or (new.customer_id is not null
         and not exists (select from customer c where c.platform_id = new.platform_id and c.id = new.customer_id)) then
    raise exception 'transaction %: in an unknown currency, or of a customer who is not of its platform', new.id
      using errcode = 'foreign_key_violation';
  end if;
  -- Assignments, which cost less than statements.
  v_party := name_party(new.platform_id, new.source_account_id, new.customer_id);
  new.source_name := v_party.name;
  new.source_number := v_party.number;
  v_party := name_party(new.platform_id, new.destination_account_id, new.customer_id);
  new.destination_name := v_party.name;
  new.destination_number := v_party.number;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

-- Returns the name and the number that a payment stores of an account at one of its ends: of an internal account that is
-- not its customer's own, the name is that of the owner. An account is never deleted, so finding it here replaces a foreign key of
-- the payment, which would look it up again and lock it.
create or replace function name_party(p_platform uuid, p_account uuid, p_customer uuid, out name text, out number text)
  language plpgsql stable
as $$
declare
  v_account account;
begin
  if p_account is null then
    return;
  end if;
  select * into v_account from account a where a.platform_id = p_platform and a.id = p_account;
  if not found then
    raise exception 'no account % of its platform', p_account using errcode = 'foreign_key_violation';
  end if;
  number := account_number(v_account.kind, v_account.id, v_account.identifier);
  if v_account.kind = 'INTERNAL' and v_account.customer_id is distinct from p_customer then
    name := case when v_account.customer_id is null
      then (select p.name from platform p where p.id = p_platform)
      else (select c.name from customer c where c.platform_id = p_platform and c.id = v_account.customer_id) end;
  end if;
  name := coalesce(name, account_name(v_account.beneficiary, v_account.account_type, v_account.currency));
end
$$;

-- Returns a transaction as it was after a change of it: the row of now, with what may have changed since as the event has it
-- (transaction_state).
create or replace function transaction_as_of(t transaction, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(t) || (
    '{"failure_reason": null, "refund_reference": null, "refund_amount": null, "refund_initiated_at": null, "refund_settled_at": null,
      "counterparty_information": {}}'
    || case when t.type = 'INCOMING' then '{"destination_account_id": null, "destination_name": null, "destination_number": null,
         "approval_due_at": null, "requested_information": null}'::jsonb else '{}' end
    || jsonb_build_object(
      'status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at,
      'settled_at', case when e.status = 'COMPLETED' then e.occurred_at end,
      'expected_settlement_at', e.occurred_at + (e.snapshot ->> 'expected_in_ms')::bigint * interval '1 millisecond')
    || coalesce(e.snapshot - 'expected_in_ms', '{}'))
$$;

-- Returns what its event stores of a transaction: the columns that may change after it was made (guard_transaction), where they
-- say something. Its status, reason, version and time of change are columns of the event: a completed payment settled at that
-- time, and its expected time is stored as milliseconds after it. transaction_as_of reads it.
create or replace function transaction_state(t transaction) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    case when t.expected_settlement_at is null then '{}' else jsonb_build_object(
      'expected_in_ms', (date_part('epoch', t.expected_settlement_at - t.updated_at) * 1000)::bigint) end
    || case when num_nonnulls(t.failure_reason, t.refund_reference, t.refund_amount, t.refund_initiated_at, t.refund_settled_at) = 0
              and (t.status = 'COMPLETED' or t.settled_at is null)
            then '{}' else jsonb_strip_nulls(jsonb_build_object(
              'settled_at', case when t.status <> 'COMPLETED' then t.settled_at end, 'failure_reason', t.failure_reason,
              'refund_reference', t.refund_reference, 'refund_amount', t.refund_amount,
              'refund_initiated_at', t.refund_initiated_at, 'refund_settled_at', t.refund_settled_at)) end
    || case when t.counterparty_information = '{}' then '{}'
            else jsonb_build_object('counterparty_information', t.counterparty_information) end
    || case when t.type = 'INCOMING' then
         jsonb_strip_nulls(jsonb_build_object(
           'destination_account_id', t.destination_account_id, 'destination_name', t.destination_name,
           'destination_number', t.destination_number, 'approval_due_at', t.approval_due_at))
         -- Nulls within it stay.
         || case when t.requested_information is null then '{}'
                 else jsonb_build_object('requested_information', t.requested_information) end
       else '{}' end,
    '{}')
$$;
