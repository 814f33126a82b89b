import { arch, cpus, totalmem } from 'node:os';
import type { Result } from './measure.ts';

/**
 * As in production, and like the peers: payments are begun; settlement and notifications happen outside the measurement.
 */
const ours = ['gateway', 'gateway, settling later'] as const;

/** What one contestant made of one case. */
export interface Row {
  readonly case: string;
  readonly contestant: (typeof ours)[number] | 'PostGraphile 5.1' | 'by hand' | 'no server';
  readonly result: Result;
  /** SQL statements per request, counted on the wire. */
  readonly statements?: number | undefined;
}

/** Anything else that was measured, in words. */
export interface Fact {
  readonly what: string;
  readonly value: string;
}

/** The machine, without its name. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${arch()}, Node ${process.versions.node}; database, servers and load tool share the cores`;
}

const round = (value: number | undefined, digits = 0) => (value === undefined ? '–' : value.toFixed(digits));

/** One row as it is printed while the benchmark runs. */
export function line({ case: name, contestant, result, statements }: Row): string {
  return [
    name.padEnd(42),
    contestant.padEnd(23),
    `${round(result.perSecond).padStart(6)}/s`,
    `p50 ${round(result.p50, 1).padStart(6)}`,
    `p99 ${round(result.p99, 1).padStart(6)} ms`,
    `CPU ${round(result.cpuMicros).padStart(5)} µs`,
    statements === undefined ? '' : `SQL ${round(statements, 1)}`,
    result.wrong > 0 ? `  WRONG ${result.wrong}: ${result.firstWrong}` : '',
  ].join('  ');
}

/** The tables of a run, as Markdown. */
export function markdown(rows: readonly Row[], facts: readonly Fact[]): string {
  const cases = [...new Set(rows.map((row) => row.case))];
  const table = rows.map(
    ({ case: name, contestant, result, statements }) =>
      `| ${name} | ${contestant} | ${round(result.perSecond)} | ${round(result.p50, 1)} | ${round(result.p99, 1)} | ${round(result.cpuMicros)} | ${round(statements, 1)} |`,
  );
  const ratio = (a: number | undefined, b: number | undefined) => (a === undefined || !b ? '–' : (a / b).toFixed(2));
  // How far the turns were from each other: the lowest and the highest ratio of two that followed on each other.
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
    '| case | who | requests/s | p50 ms | p99 ms | CPU µs/request | SQL/request |',
    '|---|---|--:|--:|--:|--:|--:|',
    ...table,
    '',
    '| the gateway against | PostGraphile: requests/s (of single turns) | CPU | by hand: requests/s | CPU |',
    '|---|--:|--:|--:|--:|',
    ...ratios,
    '',
    '| also | |',
    '|---|---|',
    ...facts.map(({ what, value }) => `| ${what} | ${value} |`),
  ].join('\n');
}
