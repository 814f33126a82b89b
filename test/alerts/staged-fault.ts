import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Surroundings } from '../faults/faults.ts';
import type { Instance } from '../faults/instances.ts';
import type { DoomedPostgres } from '../faults/postgres.ts';
import { query } from '../setup/embedded-servers.ts';
import { type Data, openClient, type TestPlatform } from '../setup/gateway.ts';

/** The system into which faults are injected while the load's clients move money. */
export interface Stage extends Surroundings {
  /** The affected instance, unless the fault affects all instances. */
  readonly instance: Instance;
  /** A second platform on the affected instance, in addition to the one that the load uses. */
  readonly other: TestPlatform;
  ops(...args: readonly string[]): Promise<Data>;
  own(sql: string): Promise<Data[]>;
}

/** `end` ends the fault. Once the alerts are resolved, `cleanUp` removes what the fault has left behind. */
export type Staged = readonly [end: () => unknown, cleanUp?: () => unknown];

export interface StagedFault {
  /** The fault's description in the table in docs/faults.md. */
  readonly staged: string;
  /** The alerts that must fire because of the fault. Other alerts may fire as well. */
  readonly alerts: readonly string[];
  stage(stage: Stage): Promise<Staged>;
  /** Returns why the fault cannot be staged on this machine, or undefined if it can be. */
  unavailable?(postgres: DoomedPostgres): string | undefined;
}

type Step = (stage: Stage) => unknown;

export function between(staged: string, alerts: readonly string[], begin: Step, end: Step): StagedFault {
  return {
    staged,
    alerts,
    async stage(stage) {
      await begin(stage);
      return [() => end(stage)];
    },
  };
}

export function bySql(staged: string, alerts: readonly string[], begin: string, end: string): StagedFault {
  return between(
    staged,
    alerts,
    ({ own }) => own(begin),
    ({ own }) => own(end),
  );
}

export const unstaged = (staged: string, alerts: readonly string[], reason: string): StagedFault => ({
  staged,
  alerts,
  stage: async () => [() => undefined],
  unavailable: () => reason,
});

/** Returns a fault that is caused by the given statements, and lasts until the session that runs them is closed. */
export const whileOpen = (staged: string, alerts: readonly string[], ...sql: readonly string[]): StagedFault => ({
  staged,
  alerts,
  async stage({ databaseUrl }) {
    const client = await session(databaseUrl, ...sql);
    return [() => client.end()];
  },
});

export async function session(url: string, ...statements: readonly string[]): Promise<pg.Client> {
  const client = await openClient(url);
  for (const sql of statements) await client.query(sql);
  return client;
}

/** Repeats an action, such as sending a request, in `count` concurrent loops. Returns the function that stops them. */
export function repeated(count: number, act: () => Promise<unknown>): () => Promise<void> {
  let hasEnded = false;
  const callers = Array.from({ length: count }, async () => {
    while (!hasEnded) {
      await act().catch(() => undefined);
      await delay(10);
    }
  });
  return async () => {
    hasEnded = true;
    await Promise.all(callers);
  };
}

/** Credits an account until the query `count` returns more than `most`. */
export async function eventsUntil(
  { databaseUrl, other }: Stage,
  accountId: string,
  count: string,
  most: number,
): Promise<void> {
  const end = repeated(8, () => other.succeed('sandboxFundAccount', { accountId, amount: 1n }));
  const isAbove = async () => {
    const [row] = await query<{ count: number }>(databaseUrl, count);
    return (row?.count ?? 0) > most;
  };
  while (!(await isAbove())) await delay(250);
  await end();
}
