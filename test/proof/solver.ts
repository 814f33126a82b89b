import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Theorem, WrongRounding } from './theorems.ts';

/** The definitions that the theorems use. */
const pricingModel = readFileSync(join(import.meta.dirname, 'pricing.smt2'), 'utf8');

/** Asks z3 whether any numbers satisfy `conditions` and a theorem's `given`. Returns `sat`, `unsat` or `timeout`. */
export function solve(
  { whole, real, given }: Theorem,
  conditions: readonly string[] = [],
  model: string = pricingModel,
): string {
  const input = [
    model,
    ...whole.map((name) => `(declare-const ${name} Int)`),
    ...real.map((name) => `(declare-const ${name} Real)`),
    ...[...given, ...conditions].map((condition) => `(assert ${condition})`),
    '(check-sat)',
  ].join('\n');
  // A theorem that takes more than two minutes counts as not proved.
  return spawnSync('z3', ['-in', '-T:120'], { input, encoding: 'utf8' }).stdout.trim();
}

/** Asks whether there are numbers for which a theorem is false. The answer `unsat` proves the theorem. */
export const refute = (theorem: Theorem): string => solve(theorem, [`(not ${theorem.claim})`]);

/** Asks whether a wrong rounding makes a theorem false for realistic rates, which are whole thousandths. */
export function refuteWith({ breaks, find, put }: WrongRounding): string {
  const real = ['units_bought', 'platform', 'service'];
  const amounts = breaks.real.filter((name) => !real.includes(name));
  const whole = [...breaks.whole, ...amounts, 'rate_thousandths', 'platform_thousandths', 'service_thousandths'];
  return solve(
    { ...breaks, whole: [...new Set(whole)], real },
    [
      '(and (<= fixed 5) (<= send 200) (>= receive 2))',
      '(and (>= rate_thousandths 1) (<= rate_thousandths 4000) (= (* units_bought rate_thousandths) 1000))',
      ...['platform', 'service'].map((name) => `(= (* 1000 ${name}) ${name}_thousandths)`),
      `(not ${breaks.claim})`,
    ],
    pricingModel.replace(find, put),
  );
}
