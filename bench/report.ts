import { arch, cpus, totalmem } from 'node:os';
import type { Result } from './measure.ts';
import type { Speed } from './speed.ts';

/**
 * The gateway as it runs in production, and, for comparison with the peers, the gateway with settlement and
 * notifications deferred until after the measurement.
 */
const ours = ['gateway', 'gateway, settling later'] as const;

/** The result of one contestant in one case. */
export interface Row {
  readonly case: string;
  readonly contestant: (typeof ours)[number] | 'PostGraphile 5.1' | 'by hand' | 'no server';
  readonly result: Result;
  /** SQL statements per request, counted on the wire. */
  readonly statements?: number | undefined;
}

/** Any other result, as a string. */
export interface Fact {
  readonly what: string;
  readonly value: string;
}

/** Describes the machine, without its name. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${arch()}, Node ${process.versions.node}; database, servers and load tool share the cores`;
}

const round = (value: number | undefined, digits = 0) =>
  value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
const ratio = (a: number | undefined, b: number | undefined) => (a && b ? (a / b).toFixed(2) : '–');

/** Formats a row for printing while the benchmark runs. */
export function line({ case: name, contestant, result, statements }: Row): string {
  return [
    name.padEnd(42),
    contestant.padEnd(23),
    `${round(result.perSecond).padStart(6)}/s`,
    `p50 ${round(result.p50, 1).padStart(6)}`,
    `p99 ${round(result.p99, 1).padStart(6)} ms`,
    `CPU ${round(result.cpuMicros).padStart(5)} µs, Postgres ${round(result.postgresMicros).padStart(5)} µs`,
    statements === undefined ? '' : `SQL ${round(statements, 1)}`,
    result.wrong > 0 ? `  WRONG ${result.wrong}: ${result.firstWrong}` : '',
  ].join('  ');
}

/** A run, in the form that `--save` writes and `--compare` reads. */
export interface Saved {
  /** The date, the kind of run and the machine. */
  readonly setting: string;
  /** The machine's speed, tested before, between and after the measurements. */
  readonly speeds: readonly Speed[];
  readonly rows: readonly Row[];
  readonly facts: readonly Fact[];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the margin of error of the mean of a measurement's turns: two standard errors, relative to the mean. */
function noise({ turns }: Result): number {
  const middle = mean(turns);
  const variance = turns.reduce((sum, turn) => sum + (turn - middle) ** 2, 0) / (turns.length - 1);
  return (2 * Math.sqrt(variance / turns.length)) / middle;
}

/**
 * Describes the changes since an earlier run, as Markdown: each row's requests per second and processor time as
 * measured, and its requests per second adjusted for the machine's speed. A change within the noise of both runs is
 * insignificant.
 */
export function comparison(now: Saved, before: Saved): string {
  const slower = (work: keyof Speed) =>
    mean(now.speeds.map((speed) => speed[work])) / mean(before.speeds.map((speed) => speed[work]));
  const works = [slower('node'), slower('postgres')] as const;
  const slowness = Math.sqrt(works[0] * works[1]);
  const lines = now.rows.flatMap(({ case: name, contestant, result }) => {
    const then = before.rows.find((row) => row.case === name && row.contestant === contestant)?.result;
    if (!then) return [];
    const change = result.perSecond / then.perSecond;
    const blur = Math.hypot(noise(result), noise(then)) * 100;
    const cpu = `${ratio(result.cpuMicros, then.cpuMicros)} | ${ratio(result.postgresMicros, then.postgresMicros)}`;
    return `| ${name} | ${contestant} | ${change.toFixed(2)} | ${(change * slowness).toFixed(2)} | ± ${round(blur)} % | ${cpu} |`;
  });
  return [
    `Compared with: ${before.setting} A fixed workload now takes ${works[0].toFixed(2)} times as long in Node, and ${works[1].toFixed(2)} times as long in Postgres.`,
    '',
    '| relative to the earlier run | who | requests/s | at equal speed | noise | CPU | Postgres CPU |',
    '|---|---|--:|--:|--:|--:|--:|',
    ...lines,
  ].join('\n');
}

/** Writes the tables of a run as Markdown. */
export function markdown({ rows, facts, speeds }: Saved): string {
  const cases = [...new Set(rows.map((row) => row.case))];
  const table = rows.map(
    ({ case: name, contestant, result, statements }) =>
      `| ${name} | ${contestant} | ${round(result.perSecond)} | ${round(result.p50, 1)} | ${round(result.p99, 1)} | ${round(result.cpuMicros)} | ${round(result.postgresMicros)} | ${round(statements, 1)} |`,
  );
  // The range, over the rounds, of the ratio between the two contestants' rates.
  const spread = (a: Result | undefined, b: Result | undefined) => {
    const each = (a?.turns ?? []).flatMap((one, at) => {
      const other = b?.turns[at];
      return other ? [one / other] : [];
    });
    return each.length < 2 || a?.turns.length !== b?.turns.length
      ? ''
      : ` (${Math.min(...each).toFixed(2)} to ${Math.max(...each).toFixed(2)})`;
  };
  const ratios = cases.flatMap((name) => {
    const of = (contestant: Row['contestant']) =>
      rows.find((row) => row.case === name && row.contestant === contestant)?.result;
    const peer = of('PostGraphile 5.1');
    const hand = of('by hand');
    if (!peer && !hand) return [];
    return ours.flatMap((contestant) => {
      const result = of(contestant);
      if (!result) return [];
      const what = contestant === 'gateway' ? name : `${name}, settling later`;
      return [
        `| ${what} | ${ratio(result.perSecond, peer?.perSecond)}${spread(result, peer)} | ${ratio(result.cpuMicros, peer?.cpuMicros)} | ${ratio(result.perSecond, hand?.perSecond)} | ${ratio(result.cpuMicros, hand?.cpuMicros)} |`,
      ];
    });
  });
  return [
    '| case | who | requests/s | p50 ms | p99 ms | CPU µs/request | Postgres CPU µs/request | SQL/request |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...table,
    '',
    '| the gateway relative to | PostGraphile: requests/s (range of the rounds) | CPU | by hand: requests/s | CPU |',
    '|---|--:|--:|--:|--:|',
    ...ratios,
    '',
    '| other measurements | |',
    '|---|---|',
    ...facts.map(({ what, value }) => `| ${what} | ${value} |`),
    `| the duration of a fixed workload in Node and in Postgres, before, between and after the measurements | ${speeds.map(({ node, postgres }) => `${round(node, 1)} and ${round(postgres, 1)} ms`).join(', ')} |`,
  ].join('\n');
}
