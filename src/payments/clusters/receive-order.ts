import { asPlatform } from '../../database/connections/platform-scope.ts';
import type { Environment } from '../../database/generated/client/client.ts';
import { retryLostRaces } from '../../database/retry.ts';
import type { Transaction } from '../../database/rows.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import { inTransaction } from '../../database/transaction.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import { commitGroupsOn } from '../../ledger/commit.ts';
import type { Plan } from '../../ledger/plan.ts';
import { announcedTransaction, receiverFields } from '../approvals/incoming.ts';
import type { Payments } from '../command.ts';
import type { OrderAnswer, OrderMessage } from './messages.ts';

/** Who is to be paid, as the database finds it. Without a customer nobody receives at the address. */
interface Receiver {
  readonly platformId: string;
  readonly customerId: string | null;
  readonly depositAccountId: string | null;
  readonly isActive: boolean | null;
  /** The id for its payment. */
  readonly newId: string;
}

const receiverStatement = statement<Receiver>(
  'receiver_of_cluster_order',
  `select r.platform_id, r.customer_id, r.deposit_account_id, r.is_active, uuid_v7() as new_id
   from find_payee($1, $2::text, $3::text, $4::environment) r`,
);

const claimStatement = statement<object>(
  'claim_order_of_cluster',
  `insert into cluster_order (platform_id, order_id, direction, cluster, currency, amount, ordered_at)
   values ($1, $2, 'RECEIVED', $3, $4, $5, $6) on conflict do nothing returning order_id`,
);

const acceptedStatement = statement<object>(
  'cluster_order_accepted',
  'update cluster_order set transaction_id = $3 where platform_id = $1 and order_id = $2',
);

const refusedStatement = statement<object>(
  'cluster_order_refused',
  'update cluster_order set refusal = $3 where platform_id = $1 and order_id = $2',
);

interface Received {
  readonly refusal: string | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: Transaction['status'] | null;
  readonly statusReason: string | null;
  readonly requestedInformation: unknown;
}

const receivedStatement = statement<Received>(
  'received_cluster_order',
  `select o.refusal, o.amount, o.currency, t.status, t.status_reason, t.requested_information
   from cluster_order o left join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
   where o.platform_id = $1 and o.order_id = $2 and o.direction = 'RECEIVED'`,
);

/**
 * Takes an order of another cluster, once: it becomes an INCOMING payment that waits for the approval of its platform, or is
 * refused for good. However often the order comes, the answer is what has become of it.
 * @returns undefined where its receiver's platform is not here: nothing is known then
 */
export async function receiveOrder(
  payments: Payments,
  cluster: string,
  order: OrderMessage,
): Promise<OrderAnswer | undefined> {
  const receiver = await findReceiver(payments, order);
  if (!receiver) return undefined;
  const { platformId } = receiver;
  return asPlatform(platformId, async () => {
    if (!order.isQuestion && !isPaused(payments, platformId)) {
      await retryLostRaces(() => take(payments, cluster, order, receiver));
    }
    const [received] = await receivedStatement(payments.database.pool, platformId, order.orderId);
    // What is not taken while the platform moves is taken afterwards, by its new cluster.
    return received ? answerOf(received) : { state: 'UNKNOWN' };
  });
}

/** Finds who is to be paid. A domain that the directory gives to another cluster is not ours, whatever rows are left of it. */
async function findReceiver({ database, cluster }: Payments, order: OrderMessage): Promise<Receiver | undefined> {
  const { umaAddress, currency, environment } = order;
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  if (cluster?.directory.current.clusterOfDomain(domain) !== cluster?.name) return undefined;
  const [receiver] = await receiverStatement(
    database.pool,
    umaAddress,
    domain,
    currency,
    environment satisfies Environment,
  );
  return receiver;
}

/** Tells whether a platform is being moved to another cluster: nothing new begins then. */
function isPaused({ cluster }: Payments, platformId: string): boolean {
  return cluster?.directory.current.placeOf({ cluster: cluster.name, platformId }).isPaused ?? false;
}

/** Claims the order, and stores its payment or its refusal, in one transaction. Whoever comes second finds the first one's. */
async function take(payments: Payments, cluster: string, order: OrderMessage, receiver: Receiver): Promise<void> {
  const { platformId } = receiver;
  const { orderId, currency, amount, orderedAt } = order;
  await inTransaction(payments.database, async ({ client }) => {
    const claimed = await claimStatement(client, platformId, orderId, cluster, currency, amount, orderedAt);
    if (claimed.length === 0) return;
    const plan = planArrival(payments, order, receiver);
    const refusal = plan ? await refusalOf(client, platformId, plan) : 'the receiver cannot take this payment';
    if (refusal === undefined) await acceptedStatement(client, platformId, orderId, receiver.newId);
    else await refusedStatement(client, platformId, orderId, refusal);
  });
}

async function refusalOf(client: Queryable, platformId: string, plan: Plan): Promise<string | undefined> {
  const [outcome] = await commitGroupsOn(client, [[{ platformId, plan }]]);
  return outcome?.kind === 'done' ? undefined : 'the receiver cannot take this payment';
}

function planArrival(payments: Payments, order: OrderMessage, receiver: Receiver): Plan | undefined {
  const { platformId, customerId, depositAccountId, newId: id } = receiver;
  if (customerId === null || depositAccountId === null || receiver.isActive !== true) return undefined;
  const transaction = announcedTransaction(
    {
      ...{ platformId, id, customerId, depositAccountId },
      senderUmaAddress: order.senderUmaAddress,
      information: order.senderInformation,
      requested: receiverFields,
      currency: order.currency,
      amount: BigInt(order.amount),
      description: order.description,
    },
    payments.approvalMs,
  );
  return {
    requireActive: { customers: [customerId], unfrozen: [depositAccountId] },
    insert: {
      transaction: [transaction],
      rail_order: [{ platformId, id: order.orderId, transactionId: id, kind: 'COLLECTION', scenario: null }],
    },
  };
}

function answerOf({ refusal, status, statusReason, amount, currency, requestedInformation }: Received): OrderAnswer {
  if (refusal !== null) return { state: 'REJECTED', explanation: refusal };
  switch (status) {
    case 'COMPLETED':
      return { state: 'SETTLED', amount: amount.toString(), currency, information: factsOf(requestedInformation) };
    case 'REJECTED':
      return { state: 'REJECTED', explanation: "the receiver's platform rejected it" };
    case 'FAILED':
    case 'EXPIRED':
    case 'REFUNDED':
      return { state: 'FAILED', explanation: `the receiving side failed: ${statusReason ?? status}` };
    default:
      return { state: 'PENDING' };
  }
}

/** Returns what the receiving platform has said of its customer with its approval: only what was requested. */
function factsOf(requested: unknown): Record<string, string> {
  const fields = trustedJson<readonly { readonly name: string; readonly value?: string }[]>(requested ?? []);
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
