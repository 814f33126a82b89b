import { statement } from '../../../infra/database/statement.ts';
import { type Webhooks, webhookTypesSql } from '../webhooks.ts';

/** The maximum number of endpoints per step. */
const maxEndpoints = 200;
/** The maximum number of events per endpoint and step. */
const maxEvents = 500;

/**
 * Inserts the deliveries. A TEST event goes only to the endpoint that it names. If a UMA payment awaits approval, its
 * event is sent as an approval request to the platform's oldest endpoint for such events, and as a plain event to the
 * others. Events for bank-rail payments are never sent as approval requests.
 */
const fanOutStatement = statement<{ count: number; moved: number }>(
  'fan_out_webhooks',
  `with behind as (
     select e.platform_id, e.id, e.event_types, e.position, least(h.sequence, e.position + $2) as upto
     from webhook_endpoint e join feed_head h on h.platform_id = e.platform_id
     where e.position < h.sequence and e.status <> 'DISABLED'
     order by e.platform_id, e.id limit $1 for no key update of e skip locked
   ), moved as (
     update webhook_endpoint e set position = b.upto from behind b
     where e.platform_id = b.platform_id and e.id = b.id returning 1
   ), created as (
     insert into webhook_delivery (platform_id, endpoint_id, event_sequence, question)
     select b.platform_id, b.id, v.sequence,
       v.type = 'INCOMING_PAYMENT' and v.status = 'PENDING' and v.snapshot ->> 'approval_due_at' is not null
         and b.id = (select o.id from webhook_endpoint o
                     where o.platform_id = b.platform_id and o.status <> 'DISABLED' and 'INCOMING_PAYMENT' = any(o.event_types)
                     order by o.id limit 1)
     from behind b join event v on v.platform_id = b.platform_id and v.sequence > b.position and v.sequence <= b.upto
     where v.type in (${webhookTypesSql}) and case v.type
       when 'TEST' then v.snapshot ->> 'endpoint_id' = b.id::text
       else v.type = any(b.event_types) end
     on conflict do nothing returning 1
   )
   select (select count(*)::int from created) as count, (select count(*)::int from moved) as moved`,
);

/**
 * Creates the deliveries of new events, exactly one per event and endpoint, in the transaction that advances the
 * endpoint's position in the feed. Returns the number of deliveries created (`count`) and of positions advanced
 * (`moved`).
 */
export async function fanOut({ payments }: Webhooks): Promise<{ count: number; moved: number }> {
  const [row] = await fanOutStatement(payments.database.pool, maxEndpoints, maxEvents);
  return row ?? { count: 0, moved: 0 };
}
