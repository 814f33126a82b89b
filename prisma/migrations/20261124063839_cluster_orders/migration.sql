-- CreateEnum
CREATE TYPE "cluster_direction" AS ENUM ('SENT', 'RECEIVED');

-- CreateTable
CREATE TABLE "cluster_order" (
    "platform_id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "direction" "cluster_direction" NOT NULL,
    "cluster" TEXT NOT NULL,
    "transaction_id" UUID,
    "currency" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "ordered_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "refusal" TEXT,

    CONSTRAINT "cluster_order_pkey" PRIMARY KEY ("platform_id","order_id")
);

-- CreateIndex
CREATE INDEX "cluster_order_cluster_direction_ordered_at_idx" ON "cluster_order"("cluster", "direction", "ordered_at");

-- CreateIndex
CREATE UNIQUE INDEX "cluster_order_platform_id_transaction_id_key" ON "cluster_order"("platform_id", "transaction_id");

-- AddForeignKey
ALTER TABLE "cluster_order" ADD CONSTRAINT "cluster_order_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Returns the orders of a day with another cluster, and what has become of each. Runs with the rights of the owner, since
-- the serving role sees one platform at a time.
create or replace function cluster_orders(p_cluster text, p_direction cluster_direction, p_day text, p_currency text)
  returns table (order_id uuid, platform_id uuid, transaction_id uuid, amount text, state text)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select o.order_id, o.platform_id, o.transaction_id, o.amount::text,
    case when t.status = 'COMPLETED' then 'SETTLED' when not is_terminal(t.status) then 'OPEN' else 'ENDED' end
  from cluster_order o
  left join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  where o.cluster = p_cluster and o.direction = p_direction and o.currency = p_currency
    and o.ordered_at >= p_day::timestamp at time zone 'UTC' and o.ordered_at < p_day::timestamp at time zone 'UTC' + interval '1 day';
end
$$;

-- Returns what has settled with another cluster, by direction, day of the order and currency. The fingerprint is that of the
-- orders' ids: two sides with the same have the same orders. Runs with the rights of the owner, since the serving role sees
-- one platform at a time.
create or replace function cluster_totals(p_cluster text) returns table (
  direction cluster_direction, day text, currency text, orders bigint, amount text, fingerprint text
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select o.direction, to_char(o.ordered_at at time zone 'UTC', 'YYYY-MM-DD'), o.currency, count(*), sum(o.amount)::text,
    bit_xor(hashtextextended(o.order_id::text || ' ' || o.amount, 0))::text
  from cluster_order o
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  where o.cluster = p_cluster and t.status = 'COMPLETED'
  group by 1, 2, 3;
end
$$;

-- Finds whom an order of another cluster pays: the platform that has the domain, its customer at the address, and the
-- account to credit in the currency. Without a customer nobody receives at the address. Runs with the rights of the owner,
-- since the serving role sees one platform at a time.
create or replace function find_payee(p_address text, p_domain text, p_currency text, p_environment environment) returns table (
  platform_id uuid, customer_id uuid, deposit_account_id uuid, is_active boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select p.id, r.id, coalesce(d.id, i.id),
    r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null
      and case when d.id is null then i.frozen_at else d.frozen_at end is null
  from uma_domain u
  join platform p on p.id = u.platform_id and p.environment = p_environment
  left join customer r on r.platform_id = p.id and lower(r.uma_address) = p_address and not r.is_deleted
  left join account d on d.platform_id = r.platform_id and d.customer_id = r.id and d.default_uma_deposit_account
    and d.status = 'ACTIVE' and d.currency = p_currency
  left join account i on i.platform_id = r.platform_id and i.customer_id = r.id and i.kind = 'INTERNAL'
    and i.currency = p_currency
  where u.domain = p_domain;
end
$$;

-- What the schema cannot say
ALTER TABLE "cluster_order" ADD CONSTRAINT "cluster_order_sound" CHECK (
  "amount" > 0
  AND "cluster" ~ '^[a-z][a-z0-9-]{0,30}$'
  -- What was sent has its payment; what was received has its payment, or was refused.
  AND ("direction" <> 'SENT' OR ("transaction_id" IS NOT NULL AND "refusal" IS NULL))
  AND ("transaction_id" IS NULL OR "refusal" IS NULL)
  AND ("refusal" IS NULL OR length("refusal") BETWEEN 1 AND 1000));
GRANT SELECT, INSERT ON "cluster_order" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("transaction_id", "refusal") ON "cluster_order" TO "gateway_serving";
GRANT UPDATE ("cluster") ON "cluster_order" TO "gateway_work";
ALTER TABLE "cluster_order" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "cluster_order" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "cluster_order" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
