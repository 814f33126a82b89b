import type { Operation } from '../../../src/domain/access/operations.ts';
import { connect, type TestPlatform } from '../../setup/gateway.ts';
import { openEventStream, openRawSocket } from '../../setup/streams.ts';
import { type Cell, type Figures, type Reply, sendBoth, victimsAt } from './cells.ts';
import { type Call, calls, coordinates, naming, type Variables } from './graphql-calls.ts';
import { fresh } from './things.ts';
import type { MatrixWorld } from './world.ts';

/** Sends an operation over a transport and returns its first result, or why there is none. */
type Over = (url: string, who: TestPlatform, call: Pick<Call, 'query'>, variables: Variables) => Promise<Reply>;

const overJson: Over = async (url, { platformId, authorization }, { query }, variables) => {
  const accept = 'application/graphql-response+json';
  const response = await connect(url, platformId, authorization).post({ query, variables }, { accept });
  return { status: response.status, text: await response.text() };
};

const overEvents: Over = async (url, { authorization }, { query }, variables) => {
  const stream = await openEventStream(`${url}/graphql/stream`, authorization, { query, variables });
  const first = await stream.events.next();
  stream.cut();
  return { status: stream.status, text: JSON.stringify(first.value?.data ?? null) };
};

const overSocket: Over = async (url, { authorization }, { query }, variables) => {
  const raw = await openRawSocket(url, authorization).catch(() => undefined);
  if (!raw) return { status: 0, text: 'refused' };
  if (raw.socket.readyState !== raw.socket.OPEN)
    return { status: (await raw.closed).code, text: (await raw.closed).reason };
  raw.send({ id: '1', type: 'subscribe', payload: { query, variables } });
  const answer = await Promise.race([raw.receive('next'), raw.receive('error')]).finally(() => raw.socket.close());
  return { status: 200, text: JSON.stringify(answer) };
};

const transports = { JSON: overJson, 'event stream': overEvents, socket: overSocket } as const;
type Transport = keyof typeof transports;

type Needed = 'VIEW' | 'TRANSACT' | 'TRANSACT or APPROVE' | 'MANAGE' | 'MANAGE and VIEW' | 'NONE';

/** The fields that need each permission, according to the documentation. */
const fieldsThatNeed: Readonly<Record<Needed, string>> = {
  VIEW: `Query.account Query.accounts Query.customer Query.customers Query.events Query.exchangeRates
    Query.externalAccountForms Query.node Query.platform Query.nodes Query.quote Query.quotes Query.transaction
    Query.transactionTotals Query.transactions Query.webhookEndpoints Customer.accounts Customer.quotes
    Customer.transactionTotals Customer.transactions ExternalAccount.transactionTotals ExternalAccount.transactions
    InternalAccount.transactionTotals InternalAccount.transactions WebhookEndpoint.deliveries
    Mutation.lookUpReceiver Subscription.accountChanges Subscription.accountUpdates Subscription.customerChanges
    Subscription.customerUpdates Subscription.events Subscription.quoteChanges Subscription.quoteUpdates
    Subscription.transactionChanges Subscription.transactionUpdates`,
  MANAGE: `Query.apiTokens Query.clientTokens Mutation.createApiToken Mutation.createClientToken Mutation.createCustomer
    Mutation.createExternalAccount Mutation.deleteCustomer Mutation.deleteExternalAccount
    Mutation.deleteWebhookEndpoint Mutation.deletePolicy Mutation.rotateApiToken Mutation.revokeApiToken Mutation.revokeClientToken Mutation.setPolicy Mutation.updateCustomer
    Mutation.updateExternalAccount Mutation.updatePlatform`,
  NONE: 'Query.currencies Query.mutationReceipt Query.viewer',
  'TRANSACT or APPROVE': 'Mutation.approveTransaction Mutation.rejectTransaction',
  TRANSACT: `Mutation.cancelQuote Mutation.createQuote Mutation.executeQuote Mutation.sandboxFundAccount Mutation.sandboxReceiveUma Mutation.sandboxSend
    Mutation.sandboxSetKycStatus Mutation.transferIn
    Mutation.transferInternal Mutation.transferOut`,
  'MANAGE and VIEW': `Mutation.createWebhookEndpoint Mutation.replayWebhookEvents Mutation.resendWebhookDelivery
    Mutation.rotateWebhookSecret Mutation.sendTestWebhook Mutation.updateWebhookEndpoint`,
};
const permissionsOf = new Map(
  Object.entries(fieldsThatNeed).flatMap(([needed, fields]) =>
    fields.split(/\s+/).map((field) => [field, needed as Needed] as const),
  ),
);

export function permissionOf({ name }: Pick<Call, 'name'>): Needed {
  const permission = permissionsOf.get(name);
  if (!permission) throw new Error(`test/attack/matrix/graphql-matrix.ts does not say which permission ${name} needs`);
  return permission;
}

/** Mutations come last, so that the objects they create do not appear in the lists and nodes. */
const inOrder = coordinates.toSorted((a, b) => Number(a.call.kind === 'mutation') - Number(b.call.kind === 'mutation'));

/** Returns the transports for a call. A subscription uses an event stream instead of JSON. */
function waysOf(kind: Call['kind'], chosen: readonly Transport[]): Transport[] {
  return [...new Set(chosen.map((way) => (kind === 'subscription' && way === 'JSON' ? 'event stream' : way)))];
}

interface GraphqlCell extends Cell {
  readonly call: Call;
}

/** Returns the cells for all coordinates, over each of the chosen transports. */
export function graphqlCells({ counting }: MatrixWorld, chosen: readonly Transport[] = ['JSON']): GraphqlCell[] {
  return inOrder.flatMap((coordinate) => {
    const { call, place, meaning } = coordinate;
    return waysOf(call.kind, chosen).map(
      (transport, at): GraphqlCell => ({
        call,
        where: `${call.name}: ${place}`,
        operation: call.field,
        meaning,
        isCommand: call.kind === 'mutation',
        isStream: call.kind === 'subscription',
        isRepeated: at > 0,
        async send(who, value, own, key) {
          const request = naming(coordinate, value, own);
          const input = request.input as Variables | undefined;
          if (input && key && meaning !== 'key') input.idempotencyKey = key;
          return { request, ...(await transports[transport](counting.url, who, call, request)) };
        },
      }),
    );
  });
}

/** Calls every field with tokens that lack the required permission. No response may reveal whether an object exists. */
export async function tryPermissions(world: MatrixWorld, figures: Figures): Promise<void> {
  for (const { name, platform, permissions } of world.weak) {
    for (const { call, where: place, meaning, isCommand, send } of graphqlCells(world)) {
      const needed = permissionOf(call);
      if (needed === 'NONE' || permissions.some((one) => needed.split(' or ').includes(one))) continue;
      for (const named of victimsAt(world, meaning, call.field, false)) {
        const key = fresh('forbidden');
        figures.tried += 1;
        const { difference, foreign } = await sendBoth(world, named, (value) =>
          send(platform, value, world.victim, key),
        );
        const where = `${name}, ${place} = ${named.what}`;
        if (difference) figures.lost.push(`${where}: ${difference}`);
        if (!/"code":"FORBIDDEN"/.test(foreign.result.text) && !isNothing(foreign.result.text))
          figures.lost.push(`${where}: ${foreign.result.text.slice(0, 300)}`);
        if (!isCommand) continue;
        if (foreign.statements.length > 0) figures.lost.push(`${where} reads: ${foreign.statements[0]?.slice(0, 100)}`);
        // The cast is safe, because every mutation has an operation of the same name.
        const { outcome } = await world.owner.receiptOf(call.field as Operation, key);
        if (outcome !== 'NONE') figures.lost.push(`${where}: its refusal is stored under the key`);
      }
    }
  }
}

/** Nodes that the caller may not see are null without an error, just as nonexistent nodes are. */
const isNothing = (text: string) => /^\{"data":\{"\w+":(null|\[null\])\}\}$/.test(text);

/** Calls every field with revoked, expired or missing credentials. All must be rejected alike, and read nothing. */
export async function tryEnded(world: MatrixWorld, figures: Figures): Promise<void> {
  for (const { name, platform } of world.ended) {
    const words = new Set<string>();
    for (const call of calls) {
      for (const transport of waysOf(call.kind, ['JSON', 'event stream', 'socket'])) {
        const [base] = call.bases;
        const { result, statements } = await world.counting.statements.during(() =>
          transports[transport](world.counting.url, platform, call, base?.(world.victim) ?? {}),
        );
        figures.tried += 1;
        words.add(`${transport}: ${result.status} ${result.text}`);
        const isRefused = transport === 'socket' ? result.status === 4403 : result.status === 401;
        if (!isRefused)
          figures.lost.push(`${name}, ${call.name}, ${transport}: ${result.status} ${result.text.slice(0, 200)}`);
        if (statements.length > 0) figures.lost.push(`${name}, ${call.name}, ${transport} reads: ${statements[0]}`);
      }
    }
    if (words.size !== 3) figures.lost.push(`${name} is refused in ${words.size} ways: ${[...words].join('; ')}`);
  }
}
