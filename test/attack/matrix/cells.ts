import type { TestPlatform } from '../../setup/gateway.ts';
import { nodeTypes } from './graphql-calls.ts';
import type { Meaning } from './meanings.ts';
import { fresh, type Kind, kinds, type Things, unknownOf } from './things.ts';
import { type MatrixWorld, type Stranger, secretsOf } from './world.ts';

export interface Figures {
  tried: number;
  /** Descriptions of the faults found, one for each faulty cell. */
  readonly lost: string[];
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A place in a request to either API that names an object. */
export interface Cell {
  /** The field or endpoint, and the place in its input. */
  readonly where: string;
  /** The operation to which the request's idempotency key belongs. */
  readonly operation: string;
  readonly meaning: Exclude<Meaning, 'nothing'>;
  readonly isCommand: boolean;
  readonly isStream?: boolean;
  /** Whether another cell tests the same place over another transport. */
  readonly isRepeated?: boolean;
  /** Sends a request with `value` in the place under test, and the caller's own objects (`own`) in all others. */
  readonly send: (
    who: TestPlatform,
    value: string,
    own: Things,
    key?: string,
  ) => Promise<Reply & { readonly request: object }>;
}

/** Tries every cell with the victim's values. */
export async function tryStranger(
  world: MatrixWorld,
  stranger: Stranger,
  cells: readonly Cell[],
  figures: Figures,
): Promise<void> {
  const secrets = secretsOf(world.victim);
  for (const { where, operation, meaning, isCommand, isRepeated, send } of cells) {
    for (const named of victimsAt(world, meaning, operation, stranger.isOfPlatform)) {
      // After one try, a key or a reusable name belongs to the stranger, so a second try would prove nothing.
      if (isRepeated && (meaning === 'key' || takenTwice.has(named.what))) continue;
      const refused = fresh('refused');
      const ask = async (value: string) => {
        // Both requests use the same key, unless both may succeed. The second is not a replay, because the refusal of
        // the first is not stored.
        const key = takenTwice.has(named.what) ? fresh('taken') : refused;
        const { request, ...reply } = await send(stranger.platform, value, stranger.own, key);
        return withLeaks(reply, secrets, request);
      };
      figures.tried += 1;
      const difference =
        meaning === 'key' && isCommand
          ? foreignKeyUsed(await ask(named.value))
          : (await sendBoth(world, named, ask)).difference;
      if (difference) figures.lost.push(`${stranger.name}, ${where} = ${named.what}: ${difference}`);
    }
  }
}

/** Checks that the matrix would notice a leak: the owner gets different responses for existing and unknown objects. */
export async function tryOwner(world: MatrixWorld, cells: readonly Cell[], figures: Figures): Promise<void> {
  for (const { where, operation, meaning, isStream, send } of cells) {
    for (const named of victimsAt(world, meaning, operation, false)) {
      const at = `${where} = ${named.what}`;
      if (alike.some(([form]) => form.test(at)) || (isStream && waiting.test(at))) continue;
      figures.tried += 1;
      const mine = await alikeForOwner(named, (value) => send(world.owner, value, world.victim));
      if (mine) figures.lost.push(`the owner, ${at}: ${mine.status} ${mine.text.slice(0, 300)}`);
    }
  }
}

/** Places in streams that open and then wait for an event, or whose filter depends on more than the row itself. */
const waiting =
  /= cursor:feed$|\.customerId = |: EventFilter\.|: (TransactionFilter\.(sender|receiver)AccountIdentifier|QuoteFilter\.sendingUmaAddress) = uma|: CustomerFilter\.name = /;

/** Places where even the owner's own value gets the same response as an unknown one, and why. */
const alike: readonly (readonly [place: RegExp, why: string])[] = [
  [/: \w*Input\.(platformCustomerId|accountNumber|platformAccountId|url) = /, 'may be taken again'],
  [/^create\w+: .*(platformCustomerId|accountNumber|platformAccountId) = /, 'may be taken again'],
  [/^(updateExternalAccount: body\.platformAccountId|updateConfig: body\.webhookEndpoint) = /, 'may be taken again'],
  [/: (QuoteFilter|query)\.sendingAccountId = ExternalAccount$/, 'nothing here is paid from outside'],
  [/: (QuoteFilter|query)\.receivingAccountId = /, 'the payments here go to another external account'],
  [/: (QuoteFilter|query)\.receivingUmaAddress = umaAddress$/, 'the payment here goes to another address'],
  [/: (QuoteFilter|query)\.sendingUmaAddress = /, 'no quote is paid from an address'],
  [
    /: (TransactionFilter|query)\.senderAccountIdentifier = (ExternalAccount|umaPayee)$/,
    'nothing here is paid from these',
  ],
  [
    /^ExternalAccount\.\w+: TransactionFilter\.receiverAccountIdentifier = (InternalAccount|umaAddress|umaPayee)$/,
    'nothing is paid from the external account',
  ],
  [/: (ApiTokenFilter|query)\.createdById = /, 'this token has created no other'],
  [/^get(Uma)?Receiver: query\.senderUmaAddress = /, 'any address may ask'],
];

/** One of the victim's values to send at a coordinate, and a value of the same form that has never existed. */
interface Named {
  readonly what: string;
  readonly value: string;
  readonly unknown: string;
}

/** The kinds of object that all of a platform's callers share. */
const ofWholePlatform: readonly Kind[] = ['cursor:feed', 'Platform'];

export function victimsAt(
  world: MatrixWorld,
  meaning: readonly Kind[] | 'key' | 'node',
  operation: string,
  isOfPlatform: boolean,
): Named[] {
  if (meaning === 'key') {
    const value = world.usedKeys[operation] ?? world.usedKeys.transferOut ?? '';
    return [{ what: 'key', value, unknown: fresh('key') }];
  }
  const all = meaning === 'node' ? nodeTypes().map(({ name }) => kindOfNode(name)) : meaning;
  return all
    .filter((kind) => !(isOfPlatform && ofWholePlatform.includes(kind)))
    .map((kind) => ({
      what: kind,
      value: world.victim[kind],
      unknown: unknownOf(kind, world.victim[kind], isOfPlatform, world.victim.Platform.replace('Platform:', '')),
    }));
}

/** Returns the kind of object that a node type represents. The kind is named after the type. */
export function kindOfNode(type: string): Kind {
  const kind = kinds.find((one) => one === type);
  if (!kind) throw new Error(`test/attack/matrix/things.ts has no object of the type ${type}`);
  return kind;
}

interface Sent {
  readonly result: Reply;
  readonly statements: readonly string[];
}

/**
 * Sends a request that names a victim's object, and the same request with an object that has never existed. Returns the
 * first response, and any difference between the two responses in status, text or executed statements.
 */
export async function sendBoth(
  world: MatrixWorld,
  { value, unknown }: Named,
  send: (value: string) => Promise<Reply>,
): Promise<{ readonly difference: string | undefined; readonly foreign: Sent }> {
  const { statements } = world.counting;
  const both = async () => {
    const foreign = await statements.during(() => send(value));
    const never = await statements.during(() => send(unknown));
    const [one, two] = [masked(foreign.result, value), masked(never.result, unknown)];
    return { foreign, never, one, two };
  };
  let sent = await both();
  // A stream's cursor moves if something happens between the two requests, such as the expiry of a payment that nobody
  // has approved.
  const hasMoved = () => sent.one.text !== sent.two.text && withoutCursors(sent.one) === withoutCursors(sent.two);
  for (let attempts = 1; hasMoved() && attempts < 10; attempts += 1) sent = await both();
  const { foreign, never, one, two } = sent;
  return { difference: differenceOf(one, two) ?? differenceOfStatements(foreign, never), foreign };
}

/** Sends an unknown value and then the owner's own. Returns the second response if it equals the first. */
async function alikeForOwner(
  { value, unknown }: Named,
  send: (value: string) => Promise<Reply>,
): Promise<Reply | undefined> {
  // Unknown values come first, because the operation may delete existing objects.
  const never = await send(unknown);
  const mine = await send(value);
  return differenceOf(masked(mine, value), masked(never, unknown)) === undefined ? mine : undefined;
}

const masked = (reply: Reply, value: string): Reply => ({ ...reply, text: reply.text.replaceAll(value, '<value>') });
const withoutCursors = ({ text }: Reply) => text.replace(/"cursor":"[^"]*"/g, '');

function differenceOfStatements(foreign: Sent, never: Sent): string | undefined {
  const [one, two] = [foreign.statements.toSorted(), never.statements.toSorted()];
  if (JSON.stringify(one) === JSON.stringify(two)) return undefined;
  const only = (a: readonly string[], b: readonly string[]) =>
    a.filter((text) => !b.includes(text)).map((text) => text.slice(0, 80));
  return `the statements differ: ${one.length} and ${two.length}; ${JSON.stringify([only(one, two), only(two, one)])}`;
}

/** Returns the start of the response if it shows that another caller's idempotency key counts as used. */
function foreignKeyUsed({ text }: Reply): string | undefined {
  return /IDEMPOTENCY_MISMATCH|"replayed":true|this idempotency key has already created|this idempotency key was used before, for/.test(
    text,
  )
    ? text.slice(0, 300)
    : undefined;
}

/** Kinds of values that another platform may use as well. */
const takenTwice: ReadonlySet<string> = new Set(['platformCustomerId', 'platformAccountId', 'accountNumber', 'url']);

/** Returns the difference between two responses. Ids, times and figures may differ between two successful responses. */
export function differenceOf(one: Reply, two: Reply): string | undefined {
  // A request that is invalid for every caller proves nothing.
  if (
    /GRAPHQL_VALIDATION_FAILED|GRAPHQL_PARSE_FAILED|LIMIT_EXCEEDED|INTERNAL|RATE_LIMITED|was not provided/.test(
      one.text,
    )
  )
    return one.text.slice(0, 400);
  if (one.status === two.status && one.text === two.text) return undefined;
  if (
    one.status === two.status &&
    isSuccess(one.text) &&
    isSuccess(two.text) &&
    shapeOf(one.text) === shapeOf(two.text)
  )
    return undefined;
  return `${one.status} ${one.text.slice(0, 400)}\n  and for an unknown one ${two.status} ${two.text.slice(0, 400)}`;
}

/** Checks whether a command succeeded. Only then may ids and times in the response differ between requests. */
function isSuccess(text: string): boolean {
  return /"__typename":"\w+Success"|^\{"(id|quoteId|apiToken|umaAddress|response_status|receivingUmaAddress|supportedCurrencies)"/.test(
    text,
  );
}

const shapeOf = (text: string) =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/"(token|secret|clientSecret|clientId|signature|cursor|webhookSecret)":"[^"]*"/g, '"$1":"…"')
    .replace(/\$[\w-]+@/g, '$…@')
    .replace(/[\d,.]+/g, '0');

/** Adds a note to the response's text if it contains any of the victim's values that were not sent. */
function withLeaks(reply: Reply, secrets: readonly string[], request: object): Reply {
  const sent = JSON.stringify(request);
  const told = secrets.filter((secret) => !sent.includes(secret) && reply.text.includes(secret));
  return told.length > 0 ? { ...reply, text: `${reply.text} tells ${told}` } : reply;
}
