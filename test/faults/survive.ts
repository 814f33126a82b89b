import { expect } from 'vitest';
import type { Violation } from './checker.ts';
import { type Fault, type FaultName, faults, type Surroundings } from './faults.ts';
import { type Outcome, type Scenery, summaryOf, underLoad } from './under-load.ts';

export interface Survival extends Scenery {
  readonly faults: Partial<Record<FaultName, number>>;
  readonly commandsBetween: number;
}

/** Injects faults one after another under load and prints a line for each kind of fault. Returns the violations. */
export async function findViolations(options: Survival): Promise<Violation[]> {
  const outcome = await underLoad(options, (around, note) => injectAll(options, around, note));
  print(options, outcome);
  return outcome.violations;
}

export async function survive(options: Survival): Promise<void> {
  const violations = await findViolations(options);
  expect(violations.slice(0, 20)).toEqual([]);
}

async function injectAll(
  { faults: counts, commandsBetween }: Survival,
  around: Surroundings,
  note: (name: FaultName) => void,
) {
  const names = Object.keys(counts) as FaultName[];
  const reasons = new Map(names.map((name) => [name, (faults[name] as Fault).unavailable?.(around)] as const));
  const left = names
    .filter((name) => !reasons.get(name))
    .flatMap((name) => Array<FaultName>(counts[name] ?? 0).fill(name));
  const survived: FaultName[] = [];
  const back = new Map<FaultName, number>();
  let healing: Promise<void>[] = [];
  await around.load.more(commandsBetween);
  while (left.length > 0) {
    const [name] = left.splice(around.random.below(left.length), 1);
    if (name === undefined) break;
    const fault: Fault = faults[name];
    if (!fault.overlaps) {
      await Promise.all(healing);
      healing = [];
    }
    note(name);
    const heal = await fault.inject(around);
    if (fault.overlaps) healing.push(Promise.resolve(heal()));
    else await heal();
    const healed = performance.now();
    await around.load.more(commandsBetween);
    back.set(name, Math.max(back.get(name) ?? 0, (performance.now() - healed) / 1_000));
    survived.push(name);
  }
  await Promise.all(healing);
  return names.map((name) => {
    // The number of faults after which commands were acknowledged again, and the longest time this took.
    const count = survived.filter((one) => one === name).length;
    return { name, survived: count, backSeconds: back.get(name) ?? 0, skipped: reasons.get(name) };
  });
}

function print({ seed, instances }: Survival, outcome: Outcome<Awaited<ReturnType<typeof injectAll>>>): void {
  const { told: tallies, violations } = outcome;
  const found = (kind: Violation['kind'], name: FaultName) =>
    violations.filter((violation) => violation.kind === kind && violation.during === name).length;
  const lines = tallies.map(({ name, survived, backSeconds, skipped }) =>
    skipped === undefined
      ? `${name}: survived ${survived}, lost ${found('lost', name)}, doubled ${found('doubled', name)}, ` +
        `wrongly answered ${found('refused but happened', name) + found('wrong receipt', name)}, back after ${backSeconds.toFixed(1)} s at most`
      : `${name}: SKIPPED, ${skipped}`,
  );
  console.log([...lines, `${instances} instances, ${summaryOf(outcome)} (seed ${seed})`].join('\n'));
}
