import { expect } from 'vitest';
import { audit } from '../../src/domain/ledger/audit.ts';
import { Random } from '../faults/random.ts';
import type { Race } from './races.ts';
import type { Choose, Played } from './scheduler.ts';
import type { World } from './world.ts';

export interface Explored {
  readonly schedules: number;
  readonly orders: Set<string>;
  /** Whether all possible orders of the steps were played. */
  readonly isAll: boolean;
}

/** Plays every order of the steps, depth first. @throws Error with the choices of the schedule that failed */
export async function exploreAll(world: World, race: Race, most: number): Promise<Explored> {
  const orders = new Set<string>();
  let next: readonly number[] | undefined = [];
  let schedules = 0;
  for (; next !== undefined && schedules < most; schedules += 1) {
    const begin: readonly number[] = next;
    const played = await playOne(world, race, `SCHEDULE_CHOICES=${begin.join('.')}`, (step) => begin[step] ?? 0);
    orders.add(played.steps.join());
    next = followingOf(played);
  }
  return { schedules, orders, isAll: next === undefined };
}

function followingOf({ choices }: Played): readonly number[] | undefined {
  const last = choices.findLastIndex(({ of, taken }) => taken + 1 < of);
  if (last === -1) return undefined;
  return [...choices.slice(0, last).map(({ taken }) => taken), (choices[last]?.taken ?? 0) + 1];
}

export async function exploreSeeds(world: World, race: Race, seeds: Iterable<number>): Promise<Explored> {
  const orders = new Set<string>();
  let schedules = 0;
  for (const seed of seeds) {
    const random = new Random(seed);
    const played = await playOne(world, race, `SCHEDULE_SEED=${seed}`, (_, { length }) => random.below(length));
    orders.add(played.steps.join());
    schedules += 1;
  }
  return { schedules, orders, isAll: false };
}

/** @throws Error with the order of the steps and how to replay it */
export async function playOne(
  world: World,
  race: Race,
  again: string,
  choose: Choose,
  decidesAlways = false,
): Promise<Played> {
  const { actors, transactions, check } = await race.prepare(world);
  let played: Played | undefined;
  try {
    played = await world.scheduler.play(actors, choose, decidesAlways);
    await check(played);
    expect(world.errors.splice(0), 'errors of background work').toEqual([]);
    await checkFeed(world, transactions);
    // Completes all work, so that none is left for the next schedule's actors.
    await world.pass(0, 301);
    await world.expireAll();
    await world.settleAll();
    return played;
  } catch (error) {
    const steps = played?.steps.join('\n  ') ?? 'it did not end';
    const results = [...(played?.results ?? [])].map(([name, result]) => `${name}: ${String(result)}`).join('\n  ');
    throw new Error(`${race.name}: ${again}\n  ${steps}\n  ${results}\n${String(error)}`, { cause: error });
  }
}

const checkedTo = new WeakMap<World, bigint>();

async function checkFeed(world: World, transactions: readonly string[]): Promise<void> {
  const { client, caller } = world;
  while ((await client.query('select sequence_outbox(2000) as count')).rows[0].count > 0);
  const from = checkedTo.get(world) ?? 0n;
  const { rows } = await client.query<{ head: string; count: string }>(
    `select (select sequence from feed_head where platform_id = $1) as head, count(*) as count
     from event where platform_id = $1 and sequence > $2`,
    [caller.platformId, from],
  );
  const head = BigInt(rows[0]?.head ?? 0);
  expect(BigInt(rows[0]?.count ?? 0), 'the events since the last schedule').toBe(head - from);
  checkedTo.set(world, head);

  const { rows: told } = await client.query<{ told: string[]; status: string }>(
    `select t.status, array(
       select coalesce(e.previous_status, '') || '>' || e.status || ' ' || e.version from event e
       where e.platform_id = t.platform_id and e.transaction_id = t.id and e.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT')
       order by e.sequence) as told
     from transaction t where t.platform_id = $1 and t.id = any ($2)`,
    [caller.platformId, transactions],
  );
  for (const { told: events, status } of told) {
    let previous = '';
    for (const [position, event] of events.entries()) {
      const next = event.slice(previous.length + 1, event.lastIndexOf(' '));
      expect(event).toBe(`${previous}>${next} ${position + 1}`);
      previous = next;
    }
    expect(previous, 'the last status in the feed').toBe(status);
  }
}

export async function checkLedger(world: World): Promise<void> {
  expect(await audit({ url: world.databaseUrl })).toEqual([]);
}
