-- Groups of plans that share a transaction, each a list of {platform, plan} that happen together or not at all: one plan, as
-- most commands and outcomes are, or the two sides of a payment between platforms. Each group is done or refused on its own,
-- as if the groups came one after another in this order. Answers, once for each:
--   {outcome: now, refusal, result}    it happened now; or it did not, and why; and the row that its plan names as its result
--   {outcome: first, refusal, result}  what came of it when its idempotency key was first used
--   {outcome: mismatch}                its idempotency key was used for something else
-- A claim or a result is in groups of one plan only. Groups that have nothing in common are found possible one by one and then
-- carried out together, since what statements cost beside their rows is a good part of a payment.
-- A plan may have an alternative, under `otherwise`: what happens instead where the plan is refused because a quote has expired.
-- The clock is read once, under the quote's lock, so that a deposit at the moment of expiry either executes its quote or is
-- credited, and is never refused for its timing.
-- Every statement here and below is planned once per connection and kept, since planning took longer than carrying out; and by
-- keys, row by row, since the tables may have been empty then.
create or replace function commit_groups(p_groups jsonb) returns jsonb[]
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_count int := jsonb_array_length(p_groups);
  v_plans jsonb := jsonb_path_query_array(p_groups, '$[*][*]');
  v_group jsonb;
  v_item jsonb;
  v_claim jsonb;
  v_refusal jsonb;
  v_answer jsonb;
  v_answers jsonb[] := '{}';
  -- What more than one group names; of that, what this group does, and what those do that have not happened yet.
  v_shared text[] := '{}';
  v_names text[];
  v_named text[] := '{}';
  -- The groups from v_from on have been looked at and have not happened yet; these of them were found possible, and what the
  -- last of them does may be looked at without being named.
  v_from int := 0;
  v_possible jsonb[] := '{}';
  v_is_seen boolean := false;
  v_ends boolean := false;
  -- Whether an alternative was taken somewhere: then not all plans are carried out as they came.
  v_is_otherwise boolean := false;
  v_planned jsonb;
begin
  if jsonb_array_length(v_plans) > 1 then
    -- Keys before rows, as a command alone takes them, and in one order.
    if v_plans @? '$[*].plan.claim' then
      perform pg_advisory_xact_lock(c.lock) from (
        select distinct claim_lock(p.platform, p.plan -> 'claim') as lock
        from jsonb_to_recordset(v_plans) as p(platform uuid, plan jsonb) where p.plan ? 'claim' order by 1
      ) c;
    end if;
    perform lock_plans(v_plans);
    v_shared := array(
      select n.name from jsonb_array_elements(p_groups) with ordinality as g(plans, place), unnest(names_in(g.plans)) as n(name)
      where n.name is not null group by n.name having min(g.place) < max(g.place));
  end if;

  for v_at in 0 .. v_count loop
    v_group := p_groups -> v_at;
    if cardinality(v_shared) > 0 and v_at < v_count then
      v_names := array(select n.name from unnest(names_in(v_group)) as n(name) where n.name = any (v_shared));
    end if;
    -- The end of a payment makes room on its account, which it need not name.
    if v_at = v_count or v_is_seen or v_names && v_named
       or (v_ends and v_group @? '$[*].plan.room') then
      if cardinality(v_possible) > 0 then
        perform apply_plans(
          case when cardinality(v_possible) = v_count and not v_is_otherwise then v_plans
            else jsonb_path_query_array(to_jsonb(v_possible), '$[*][*]') end);
      end if;
      for v_done in v_from .. v_at - 1 loop
        v_item := p_groups #> array[v_done::text, '0', 'plan'];
        v_answer := v_answers[v_done + 1];
        if v_item ?| '{claim,result}' and v_answer ->> 'outcome' = 'now' then
          v_answers[v_done + 1] := conclude_plan(
            (p_groups #>> array[v_done::text, '0', 'platform'])::uuid, v_item -> 'claim', v_item -> 'result', v_answer -> 'refusal');
        end if;
      end loop;
      v_from := v_at;
      v_named := '{}';
      v_possible := '{}';
      v_is_seen := false;
      v_ends := false;
    end if;
    exit when v_at = v_count;

    v_claim := v_group #> '{0,plan,claim}';
    v_answer := null;
    v_refusal := null;
    if v_claim is not null then
      v_answer := first_answer((v_group #>> '{0,platform}')::uuid, v_claim);
    end if;
    if v_answer is null then
      for v_place in 0 .. jsonb_array_length(v_group) - 1 loop
        v_item := v_group -> v_place;
        v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
        while v_refusal ->> 'code' = 'QUOTE_EXPIRED' and v_item -> 'plan' ? 'otherwise' loop
          v_planned := jsonb_build_array(v_item);
          v_item := jsonb_set(v_item, '{plan}', v_item #> '{plan,otherwise}');
          -- What is locked, and what shares a transaction, was decided by what the plan names.
          if not array_remove(names_in(jsonb_build_array(v_item)), null) <@ names_in(v_planned) then
            raise exception 'an alternative changes what its plan does not name' using errcode = 'LG010';
          end if;
          v_group := jsonb_set(v_group, array[v_place::text], v_item);
          v_is_otherwise := true;
          v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
        end loop;
        exit when v_refusal is not null;
      end loop;
      if v_refusal is null then
        v_possible := v_possible || v_group;
        v_ends := v_ends or v_group @? '$[*].plan.transactions';
        -- Customers and accounts outside are looked at by plans that do not name them.
        v_is_seen := v_group @? '$[*].plan ? (exists (@.customers) || exists (@.accounts)
          || exists (@.insert.customer) || exists (@.insert.account))';
        v_answer := '{"outcome": "now"}';
      else
        v_answer := jsonb_build_object('outcome', 'now', 'refusal', v_refusal);
      end if;
      v_named := v_named || v_names;
    end if;
    v_answers := v_answers || v_answer;
  end loop;
  return v_answers;
end
$$;
