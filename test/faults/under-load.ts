import { setTimeout as delay } from 'node:timers/promises';
import { audit } from '../../src/domain/ledger/audit.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { prepareLogin } from '../../src/infra/database/pooler.ts';
import { sequenceIn } from '../setup/cursors.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { query } from '../setup/embedded-servers.ts';
import { connect, type TestPlatform } from '../setup/gateway.ts';
import { passApproval } from '../setup/passing-time.ts';
import { type PgBouncer, startPgBouncer } from '../setup/pgbouncer.ts';
import type { Scene } from '../setup/scene.ts';
import { startReplicated } from '../setup/standby.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { check, underWay, type Violation } from './checker.ts';
import { readFeed, readPayments, readReceipts } from './evidence.ts';
import type { Surroundings } from './faults.ts';
import { type Follower, startFollowers } from './followers.ts';
import { environment, furnish, money } from './furnish.ts';
import type { Command, Evidence, Usage } from './history.ts';
import { startInstance } from './instances.ts';
import { type Load, startLoad } from './load.ts';
import { limitedAs } from './load-acts.ts';
import { canServeNames, databaseName, startNameServer } from './name-server.ts';
import { type DoomedPostgres, startDoomedPostgres } from './postgres.ts';
import { Random } from './random.ts';

/** The system that runs while faults are injected. */
export interface Scenery {
  readonly seed: number;
  readonly instances: number;
  readonly clients: number;
  readonly followers: number;
  /** If false, Postgres acknowledges commits that a crash then loses, and the checker must find the loss. */
  readonly durable?: boolean;
  /** Whether every attempt that reaches an instance must get a response. */
  readonly undisturbed?: true;
  /** The number of server connections of a PgBouncer in transaction mode, if one is used. */
  readonly poolerSize?: number;
  readonly hasReplica?: boolean;
  /** Whether the Postgres disk can be made slow, rather than full or read-only. */
  readonly slowDisk?: true;
  /** Whether the instances connect to Postgres by host name, which they resolve with a name server that can fail. */
  readonly namedDatabase?: true;
  readonly wrappers?: readonly (readonly string[])[];
  /** Whether policies limit the clients: one always reaches its limit, and another's payments wait for approval. */
  readonly limited?: true;
  readonly settings?: (position: number) => Record<string, string>;
}

export type Outcome<Told> = Awaited<ReturnType<typeof underLoad<Told>>>;

/**
 * If no message arrives for this long, those still missing are considered lost. A background work item that has lost
 * its connection may take up to its time limit of 30 s, so this is longer.
 */
const silenceMs = 60_000;

/**
 * Lets clients move money while `disturb` disrupts the system. Returns the checker's findings.
 * @param disturb gets a function that sets the current fault, so that the findings can name it
 */
export async function underLoad<Told>(
  options: Scenery,
  disturb: (around: Surroundings, note: (name: string) => void) => Promise<Told>,
) {
  const { seed } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, replica } = await startServers(options);
    ends.push(() => postgres.stop());
    ends.push(async () => replica?.close());
    const receiver = await startReceiver();
    ends.push(() => receiver.stop());
    const { limited = false } = options;
    const { platform, clerk, approver, scenes, start } = await furnish(
      postgres.url,
      receiver,
      options.clients,
      limited,
    );
    const pooler = options.poolerSize ? await startPooler(postgres.url, options.poolerSize) : undefined;
    ends.push(async () => pooler?.stop());
    const names = options.namedDatabase && canServeNames() ? await startNameServer() : undefined;
    ends.push(async () => names?.stop());
    const instances = await Promise.all(
      Array.from({ length: options.instances }, (_, position) =>
        startInstance(
          postgres.url,
          {
            ...environment,
            // Gives clients time to notice that an instance is shutting down, so that no attempt fails.
            ...(options.undisturbed && { SHUTDOWN_DELAY_MS: '2000' }),
            ...(replica && { DATABASE_READ_URL: replica.url }),
            ...options.settings?.(position),
          },
          {
            poolerUrl: pooler?.url,
            databaseName: names && databaseName,
            wrapper: names?.wrapper ?? options.wrappers?.[position],
          },
        ),
      ),
    );
    ends.push(() => Promise.all(instances.map((instance) => instance.stop())));
    const urls = () => instances.map(({ url }) => url);
    const { authorization, platformId } = platform;
    const followers = startFollowers(options.followers, urls, authorization, start);
    ends.push(() => Promise.all(followers.map((follower) => follower.stop())));
    let during = 'nothing';
    const load = startLoad({
      ...{ urls, scenes, seed, during: () => during },
      ...(limited
        ? {
            authorization: clerk.authorization,
            approver: approver.authorization,
            acts: (position) => limitedAs(position).acts,
          }
        : { authorization }),
    });
    ends.push(() => load.stop());
    const began = performance.now();
    const around = {
      load,
      instances,
      postgres,
      pooler,
      replica,
      names,
      databaseUrl: postgres.url,
      random: new Random(seed),
    };
    const told = await disturb(around, (name) => {
      during = name;
    });
    const seconds = (performance.now() - began) / 1_000;
    await load.stop();
    const asking = connect(instances[0]?.url ?? '', platformId, authorization);
    const evidence = await gather(asking, { load, followers, receiver, scenes, start, postgres });
    const violations: Violation[] = check(evidence);
    if (options.undisturbed)
      violations.push(...load.troubles.map((words) => ({ kind: 'disturbed' as const, during, words })));
    return { told, evidence, violations, seconds };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export function summaryOf({ evidence, violations, seconds }: Outcome<unknown>): string {
  const { history, feed, followers } = evidence;
  const ended = (outcome: Command['outcome']) => history.filter((command) => command.outcome === outcome).length;
  const byPolicy = history.filter(({ code }) => code === 'LIMIT_EXCEEDED').length;
  return (
    `${history.length} commands in ${Math.round(seconds)} s: ${ended('succeeded')} acknowledged, ${ended('refused')} refused (${byPolicy} by a policy), ` +
    `${ended('unknown')} unknown; ${feed.length} changes, ${followers.size} followers; ${violations.length} violations`
  );
}

/** Starts a Postgres server for fault injection or, if requested, one with a replica behind a proxy. */
async function startServers({ hasReplica, durable, slowDisk }: Scenery) {
  if (!hasReplica) return { postgres: await startDoomedPostgres(durable, slowDisk), replica: undefined };
  const { primary, standbys, stop } = await startReplicated(1);
  const back = async () => undefined;
  const postgres: DoomedPostgres = { url: primary.url, pid: 0, back, disk: undefined, slowDisk: undefined, stop };
  return { postgres, replica: await databaseProxy(standbys[0]?.url ?? '') };
}

async function startPooler(databaseUrl: string, size: number): Promise<PgBouncer> {
  const login = servingUrl(databaseUrl);
  await prepareLogin(login, login);
  return startPgBouncer(databaseUrl, size);
}

export interface Sources {
  readonly load: Load;
  readonly followers: readonly Follower[];
  readonly receiver: Receiver;
  readonly scenes: readonly Scene[];
  readonly start: string;
  readonly postgres: { readonly url: string };
}

/** Waits until no payments are in flight, then reads the visible state. */
export async function gather(platform: TestPlatform, sources: Sources): Promise<Evidence> {
  const { load, followers, receiver, scenes, start, postgres } = sources;
  const { history, internalErrors } = load;
  const { payments, feed: changes } = await atRest(platform, sources);
  const receipts = await readReceipts(platform, history);
  // The endpoint also got a TEST event when it was created.
  const arrived = () =>
    new Set(receiver.received.flatMap(({ body }): string[] => (body.type === 'TEST' ? [] : [body.eventId])));
  const due = changes.filter(({ payment }) => payment !== undefined).length;
  await settled(() => due - arrived().size);
  // Waits for all deliveries, because the end of each is also a change in the feed.
  const deliveries = `(select count(*) from webhook_delivery where status = 'PENDING') + (select count(*) from outbox)`;
  await settled(() => countIn(postgres, deliveries));
  const feed = await readFeed(platform, start);
  await settled(() => followers.reduce((left, { received }) => left - received.length, followers.length * feed.length));
  const balances = new Map<string, { before: bigint; after: bigint }>();
  for (const { usd } of scenes) balances.set(usd, { before: money, after: await platform.balanceOf(usd) });
  const usage = new Map<string, Usage>();
  for (const { customerId, usd } of scenes) {
    const { customer } = await platform.ask(
      `query ($id: ID!) { customer(id: $id) { policy { limits { usedPayments usedAmount { amount } } } } }`,
      { id: customerId },
    );
    const [payments, amount] = customer.policy?.limits ?? [];
    if (payments) usage.set(usd, { payments: payments.usedPayments, amount: BigInt(amount.usedAmount.amount) });
  }
  return {
    history,
    internalErrors,
    receipts,
    payments,
    start: sequenceIn(platform.platformId, start),
    feed,
    followers: new Map(followers.map(({ name, received: messages }) => [name, messages])),
    webhooks: arrived(),
    balances,
    usage,
    breaches: await audit(postgres),
  };
}

/** Waits until no payments are in flight and every change is in the feed, or until there is no more progress. */
async function atRest(platform: TestPlatform, { load, start, postgres }: Sources) {
  await settled(async () => {
    await passApproval({ databaseUrl: postgres.url });
    const orders = '(select count(*) from outbox) + (select count(*) from rail_order where due_at is not null)';
    const waiting = await countIn(postgres, orders);
    return waiting || underWay(await readPayments(platform), await readFeed(platform, start), load.history).length;
  });
  return { payments: await readPayments(platform), feed: await readFeed(platform, start) };
}

async function countIn({ url }: Sources['postgres'], sum: string): Promise<number> {
  const [row] = await query<{ count: number }>(url, `select (${sum})::int as count`);
  return row?.count ?? 1;
}

/** Waits until no items remain, or until their number has not changed for a long time. */
async function settled(left: () => number | Promise<number>): Promise<void> {
  for (let last = -1, deadline = 0; ; await delay(50)) {
    const count = await left();
    if (count !== last) deadline = performance.now() + silenceMs;
    last = count;
    if (count <= 0 || performance.now() > deadline) return;
  }
}
