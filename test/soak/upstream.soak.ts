import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { type TrialResult, tryUpstream } from '../faults/upstream/try-upstream.ts';

// Tests a gateway whose provider is a second installation, under every fault that can occur between the two.

const setting = (name: string, usual: number) => Number(process.env[name] ?? usual);
const trial = {
  seed: setting('UPSTREAM_SEED', randomInt(1_000_000)),
  payments: setting('UPSTREAM_PAYMENTS', 10_000),
  kills: setting('UPSTREAM_KILLS', 200),
  clients: 16,
  instances: 2,
  oneIn: 20,
};

test('payments through an upstream service are neither lost nor duplicated, and every difference is reported', {
  timeout: 10_800_000,
}, async () => {
  const result = await tryUpstream(trial);
  print(result);
  expect(result.violations.slice(0, 20)).toEqual([]);
});

function print({ books, violations, kills, troubles, repeated, seconds }: TrialResult): void {
  const { history, payments, movements, deposits, named, restores } = books;
  const count = (kind: string) => violations.filter((violation) => violation.kind === kind).length;
  const by = <T>(all: readonly T[], of: (one: T) => string) =>
    [...Map.groupBy(all, of)].map(([name, some]) => `${some.length} ${name}`).join(', ');
  console.log(
    [
      `${payments.length} payments here (${by(payments, ({ status }) => status)}), ${deposits.length} of them deposits; ${movements.length} upstream, in ${Math.round(seconds)} s`,
      `commands: ${by(history, ({ outcome }) => outcome)}`,
      `kills: ${kills.here} here, ${kills.upstream} upstream; troubles between them: ${[...troubles].map(([name, times]) => `${times} ${name}`).join(', ')}`,
      `the restore of upstream undid ${restores.vanished.length} payments there; that of the gateway ${restores.undonePayments.size} here, of which ${repeated} were sent again`,
      `named by the reconciliation: ${by(named, ({ fault }) => fault)}; ended by hand: ${restores.endedByHand.size}`,
      ...[...Map.groupBy(violations, ({ kind }) => kind)].flatMap(([kind, some]) =>
        some.slice(0, 3).map(({ words }) => `${kind}: ${words}`),
      ),
      `lost ${count('lost')}, doubled ${count('doubled')}, ${violations.length} violations (seed ${trial.seed}): ${by(violations, ({ kind }) => kind)}`,
    ].join('\n'),
  );
}
