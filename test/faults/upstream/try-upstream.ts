import { setTimeout as delay } from 'node:timers/promises';
import { type Load, startLoad } from '../load.ts';
import { Random } from '../random.ts';
import { upstreamActs } from './acts.ts';
import { checkBooks } from './books-checker.ts';
import { startTwoSides, type TwoSides } from './furnish-sides.ts';
import { type Before, beforeHere, beforeUpstream, gatherBooks, undoneBy } from './gather-books.ts';
import { present, readHeld } from './read-books.ts';
import type { Trouble } from './troubled-proxy.ts';

/** Kills instances of either side. An instance may be killed before the previously killed instance has restarted. */
function killerOf(sides: TwoSides, random: Random) {
  const kills = { here: 0, upstream: 0 };
  const coming: Promise<void>[] = [];
  return {
    kills,
    async kill(): Promise<void> {
      const name = random.oneOf(['here', 'upstream'] as const);
      const side = sides[name];
      while (side.url === undefined) await delay(5);
      const instance = random.oneOf(side.instances.filter(({ isUp }) => isUp));
      await instance.kill();
      kills[name] += 1;
      coming.push(instance.start());
    },
    healed: () => Promise.all(coming.splice(0)),
  };
}

/** The parameters of a trial. */
export interface Trial {
  readonly seed: number;
  readonly payments: number;
  /** How many instances are killed in total, on both sides. */
  readonly kills: number;
  readonly clients: number;
  /** The number of gateway instances. The upstream service has only one, so killing it takes the service down. */
  readonly instances: number;
  /** One in this many messages between the two sides is disrupted. */
  readonly oneIn: number;
}

export type TrialResult = Awaited<ReturnType<typeof tryUpstream>>;

/**
 * Lets clients pay through a gateway and its upstream service while instances of both are killed and the network
 * between them fails. Restores the upstream service, and later the gateway, from an older backup. At the end, compares
 * both books.
 */
export async function tryUpstream(trial: Trial) {
  const random = new Random(trial.seed);
  const sides = await startTwoSides(trial, random);
  const opening = await readHeld(present(sides.account()), present(sides.upstream.url));
  const acts = upstreamActs(sides.payers, sides.asking);
  const load = startLoad({
    urls: () => sides.here.instances.map(({ url }) => url),
    authorization: present(sides.platform()).authorization,
    scenes: sides.payers.map(({ scene }) => scene),
    seed: trial.seed,
    during: () => 'the trial',
    acts: () => acts,
  });
  try {
    const began = performance.now();
    const killer = killerOf(sides, random);
    const { before, repeated } = await disturb(trial, sides, load, killer, random);
    for (const way of sides.ways) way.pause();
    await load.stop();
    const seconds = (performance.now() - began) / 1_000;
    const books = await gatherBooks(sides, load, before, opening);
    const { kills } = killer;
    // `repeated` is the number of commands sent again after the gateway was restored. `seconds` is how long the clients
    // spent making payments.
    return { books, violations: checkBooks(books), kills, troubles: troublesOf(sides), repeated, seconds };
  } finally {
    await load.stop();
    await sides.stop();
  }
}

/** Roughly how many acknowledged commands a payment needs. A payment with a quote needs two. */
const commandsOfPayment = 1.4;

async function disturb(
  { kills, payments, clients }: Trial,
  sides: TwoSides,
  load: Load,
  killer: ReturnType<typeof killerOf>,
  random: Random,
): Promise<{ readonly before: Before; readonly repeated: number }> {
  const commandsBetween = Math.ceil((payments * commandsOfPayment) / kills);
  const killed = async (upTo: number) => {
    while (killer.kills.here + killer.kills.upstream < kills * upTo) {
      await load.more(commandsBetween);
      await killer.kill();
    }
    await killer.healed();
  };
  await killed(5 / 10);
  await sides.upstream.backUp();
  await killed(7 / 10);
  let upstream: Before['upstream'] | undefined;
  await sides.upstream.restore(async () => {
    upstream = await beforeUpstream(sides);
  });
  await killed(8 / 10);
  await sides.here.backUp();
  await killed(1);
  let here: Before['here'] | undefined;
  await sides.here.restore(async () => {
    here = await beforeHere(sides);
  });
  const repeated = await repeat(sides, load, present(here), { random, clients });
  while (paid(load) < payments) await load.more(commandsBetween);
  return { before: { upstream: present(upstream), here: present(here) }, repeated };
}

function paid({ history }: Load): number {
  return history.filter(({ outcome, operation }) => outcome === 'succeeded' && operation !== 'createQuote').length;
}

/** Repeats most of the undone commands with their keys, as clients unaware of the restore would. */
async function repeat(
  { here }: TwoSides,
  load: Load,
  before: Before['here'],
  { random, clients }: { readonly random: Random; readonly clients: number },
): Promise<number> {
  const gone = await undoneBy(here.databaseUrl, before);
  const undone = load.history
    .filter(({ transactionIds }) => transactionIds.some((id) => gone.has(id)))
    .filter(() => !random.oneIn(10));
  const left = [...undone];
  const repeatAll = async () => {
    for (let command = left.shift(); command; command = left.shift()) await load.repeat(command.key);
  };
  await Promise.all(Array.from({ length: clients }, repeatAll));
  return undone.length;
}

function troublesOf({ ways }: TwoSides): ReadonlyMap<Trouble, number> {
  const sum = new Map<Trouble, number>();
  for (const { met } of ways) for (const [trouble, times] of met) sum.set(trouble, (sum.get(trouble) ?? 0) + times);
  return sum;
}
