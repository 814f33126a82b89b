import type { Operation } from '../../../src/domain/access/operations.ts';
import { receiptOf } from '../../setup/acts.ts';
import { connect, type TestPlatform } from '../../setup/gateway.ts';
import { openEventStream, openRawSocket } from '../../setup/streams.ts';
import {
  alikeForOwner,
  type Figures,
  foreignKeyUsed,
  type Reply,
  sendBoth,
  takenTwice,
  victimsAt,
  withLeaks,
} from './cells.ts';
import { type Call, calls, coordinates, naming, type Variables } from './graphql-calls.ts';
import { fresh } from './things.ts';
import { type MatrixWorld, type Stranger, secretsOf } from './world.ts';

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

/** The permission that each field needs, according to the documentation. */
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
    Mutation.sandboxSetExternalAccountStatus Mutation.sandboxSetKycStatus Mutation.transferIn
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

/** Lists and nodes come first, so that they do not contain objects created by the matrix's mutations. */
const inOrder = coordinates.toSorted((a, b) => Number(a.call.kind === 'mutation') - Number(b.call.kind === 'mutation'));

/** Returns the transports for a call. A subscription uses an event stream instead of JSON. */
function waysOf(kind: Call['kind'], chosen: readonly Transport[]): Transport[] {
  return [...new Set(chosen.map((way) => (kind === 'subscription' && way === 'JSON' ? 'event stream' : way)))];
}

/** Sends the victim's ids at every place in every field; `share` selects places by their position. */
export async function tryStranger(
  world: MatrixWorld,
  stranger: Stranger,
  chosen: readonly Transport[],
  figures: Figures,
  share: (place: number) => boolean = () => true,
): Promise<void> {
  const secrets = secretsOf(world.victim);
  for (const coordinate of inOrder.filter((_one, place) => share(place))) {
    const { call, place } = coordinate;
    for (const named of victimsAt(world, coordinate.meaning, call.field, stranger.isOfPlatform)) {
      // A key or a reusable name is foreign only at first use. After that, it is the stranger's own.
      const ways = waysOf(call.kind, chosen);
      for (const transport of coordinate.meaning === 'key' || takenTwice.has(named.what) ? ways.slice(0, 1) : ways) {
        const key = fresh('refused');
        const isKey = coordinate.meaning === 'key';
        const input = call.kind === 'mutation';
        const send = async (value: string) => {
          const variables = naming(coordinate, value, stranger.own);
          const input = variables.input as Record<string, unknown> | undefined;
          // Both requests use the same key. These refusals are not stored, so the second request is not a replay.
          if (input && !isKey) input.idempotencyKey = takenTwice.has(named.what) ? fresh('taken') : key;
          const reply = await transports[transport](world.counting.url, stranger.platform, call, variables);
          return withLeaks(reply, secrets, variables);
        };
        figures.tried += 1;
        const difference =
          isKey && input ? foreignKeyUsed(await send(named.value)) : (await sendBoth(world, named, send)).difference;
        if (difference)
          figures.lost.push(`${stranger.name}, ${call.name}, ${place} = ${named.what}, ${transport}: ${difference}`);
      }
    }
  }
}

/** Checks that the matrix can tell existing objects from others: the owner gets different responses. */
export async function tryOwner(world: MatrixWorld, figures: Figures): Promise<void> {
  for (const coordinate of inOrder) {
    const { call, place } = coordinate;
    const transport = call.kind === 'subscription' ? 'event stream' : 'JSON';
    for (const named of victimsAt(world, coordinate.meaning, call.field, false)) {
      const { what } = named;
      if (isAlike(`${place} = ${what}`) || isAlike(`${call.name}: ${place} = ${what}`)) continue;
      // These streams open and wait for the next event.
      if (call.kind === 'subscription' && (what === 'cursor:feed' || /\.customerId$|^EventFilter\./.test(place)))
        continue;
      if (call.kind === 'subscription' && notFollowed.test(`${place} = ${what}`)) continue;
      const send = (one: string) =>
        transports[transport](world.counting.url, world.owner, call, naming(coordinate, one, world.victim));
      figures.tried += 1;
      const mine = await alikeForOwner(named, send);
      if (mine) figures.lost.push(`the owner, ${call.name}, ${place} = ${what}: ${mine.text.slice(0, 300)}`);
    }
  }
}

/** Conditions that depend on more than the row itself, which live lists do not support. */
const notFollowed =
  /^(TransactionFilter\.(sender|receiver)AccountIdentifier|QuoteFilter\.sendingUmaAddress) = uma|^CustomerFilter\.name = /;

/** Places at which even the owner's own value gets the same response as any other value, with the reason. */
const alike: readonly (readonly [place: RegExp, why: string])[] = [
  [
    /(platformCustomerId = platformCustomerId|accountNumber = accountNumber|\.url = url|platformAccountId = platformAccountId)$/,
    'may be taken again',
  ],
  [/^QuoteFilter\.sendingAccountId = ExternalAccount$/, 'nothing here is paid from outside'],
  [/^QuoteFilter\.receivingAccountId = /, 'the payments here go to another account outside'],
  [/^QuoteFilter\.receivingUmaAddress = umaAddress$/, 'the payment here goes to another address'],
  [/^QuoteFilter\.sendingUmaAddress = /, 'no quote is paid from an address'],
  [/^TransactionFilter\.senderAccountIdentifier = (ExternalAccount|umaPayee)$/, 'nothing here is paid from these'],
  [
    /^ExternalAccount\.\w+: TransactionFilter\.receiverAccountIdentifier = (InternalAccount|umaAddress|umaPayee)$/,
    'nothing is paid from the account outside',
  ],
  [/^ApiTokenFilter\.createdById = /, 'this token has created no other'],
  [/^SandboxSetExternalAccountStatusInput\.accountId = InternalAccount$/, 'an account here has no such status'],
];
/** A `platformCustomerId` gets the same response only in inputs that create; in a filter it must find its row. */
const isAlike = (place: string) =>
  !/^(Customer|Transaction)Filter\.platformCustomerId/.test(place) && alike.some(([form]) => form.test(place));

/** Calls every field with a token that lacks a right. No response may reveal whether the named object exists. */
export async function tryPermissions(world: MatrixWorld, figures: Figures): Promise<void> {
  for (const { name, platform, permissions } of world.weak) {
    for (const coordinate of inOrder) {
      const needed = permissionOf(coordinate.call);
      if (needed === 'NONE' || permissions.some((one) => needed.split(' or ').includes(one))) continue;
      const { call, place } = coordinate;
      const transport = call.kind === 'subscription' ? 'event stream' : 'JSON';
      for (const named of victimsAt(world, coordinate.meaning, call.field, false)) {
        const key = fresh('forbidden');
        const send = async (value: string) => {
          const variables = naming(coordinate, value, world.victim);
          const input = variables.input as Record<string, unknown> | undefined;
          if (input && coordinate.meaning !== 'key') input.idempotencyKey = key;
          return transports[transport](world.counting.url, platform, call, variables);
        };
        figures.tried += 1;
        const { difference, foreign } = await sendBoth(world, named, send);
        const where = `${name}, ${call.name}, ${place} = ${named.what}`;
        if (difference) figures.lost.push(`${where}: ${difference}`);
        if (!/"code":"FORBIDDEN"/.test(foreign.result.text) && !isNothing(foreign.result.text))
          figures.lost.push(`${where}: ${foreign.result.text.slice(0, 300)}`);
        if (foreign.statements.length > 0 && call.kind === 'mutation')
          figures.lost.push(`${where} reads: ${foreign.statements[0]?.slice(0, 100)}`);
        const stored = await outcomeOf(world, call.field, key);
        if (call.kind === 'mutation' && stored !== 'NONE')
          figures.lost.push(`${where}: its refusal is stored under the key`);
      }
    }
  }
}

/** Nodes that the caller may not see are null without an error, just as nonexistent nodes are. */
const isNothing = (text: string) => /^\{"data":\{"\w+":(null|\[null\])\}\}$/.test(text);

async function outcomeOf({ owner }: MatrixWorld, operation: string, key: string): Promise<string> {
  if (!calls.some((call) => call.kind === 'mutation' && call.field === operation)) return 'NONE';
  // Every mutation of the schema is an operation.
  return (await receiptOf(owner, operation as Operation, key)).outcome;
}

/** Calls every field with credentials that are no longer valid. Every call must be rejected alike and read nothing. */
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
