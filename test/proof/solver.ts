import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { formatDecimal } from '../../src/core/currencies.ts';
import type { PricingRequest, priceQuote } from '../../src/domain/pricing/pricing.ts';
import { request } from './quote-cases.ts';
import { readValues, type Value } from './smt.ts';
import { pricingFile, type QuoteTheorem, type Theorem, type WrongRounding } from './theorems.ts';

/**
 * The SMT solver z3, if it is installed. For a wrong rounding, it finds a quote that shows the fault, and the source with
 * the same fault then computes that quote.
 */

/** The definitions that the theorems use. */
export const pricingModel = readFileSync(join(import.meta.dirname, 'pricing.smt2'), 'utf8');

/** The solver's answer: whether any numbers satisfy all conditions and, on request, those numbers. */
export interface Satisfiable {
  readonly answer: string;
  readonly values: Readonly<Record<string, Value>>;
}

/** Asks whether there are numbers that satisfy a theorem's assumptions and these conditions. */
export async function solve(
  { whole, real, given }: Theorem,
  conditions: readonly string[],
  { model = pricingModel, values = false } = {},
): Promise<Satisfiable> {
  const names = [...whole, ...real];
  const text = [
    model,
    ...whole.map((name) => `(declare-const ${name} Int)`),
    ...real.map((name) => `(declare-const ${name} Real)`),
    ...[...given, ...conditions].map((condition) => `(assert ${condition})`),
    '(check-sat)',
    ...(values ? [`(get-value (${names.join(' ')}))`] : []),
  ].join('\n');
  const output = await run(text);
  if (output.includes('(error') && !output.startsWith('unsat')) throw new Error(output);
  const [answer = '', ...rest] = output.trim().split('\n');
  return { answer, values: values && answer === 'sat' ? readValues(rest.join('\n')) : {} };
}

/** Asks whether there are numbers for which a theorem is false: `unsat` proves it. */
export function refute(theorem: Theorem): Promise<Satisfiable> {
  return solve(theorem, [`(not ${theorem.claim})`]);
}

function run(text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // A theorem that takes longer counts as not proved. The solver then prints `timeout`.
  const z3 = spawn('z3', ['-in', '-T:120'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  z3.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  z3.on('error', reject);
  z3.on('close', () => resolve(output));
  z3.stdin.end(text);
  return promise;
}

/** Makes the solver find a quote for which the theorem is false, with rates that a rail could give, in thousandths. */
export function counterexampleOf(bug: WrongRounding): Promise<Satisfiable> {
  const theorem = bug.breaks;
  const amounts = theorem.real.filter((name) => !['units_bought', 'platform', 'service'].includes(name));
  const whole = [...theorem.whole, ...amounts, 'rate_thousandths', 'platform_thousandths', 'service_thousandths'];
  const real = ['units_bought', 'platform', 'service'];
  return solve(
    { ...theorem, whole: [...new Set(whole)], real },
    [
      // Large enough that the correct rounding also yields a price.
      '(and (<= fixed 5) (<= send 200) (>= receive 2))',
      '(and (>= rate_thousandths 1) (<= rate_thousandths 4000) (= (* units_bought rate_thousandths) 1000))',
      ...['platform', 'service'].map((name) => `(= (* 1000 ${name}) ${name}_thousandths)`),
      `(not ${theorem.claim})`,
    ],
    { model: pricingModel.replace(bug.find, bug.put), values: true },
  );
}

/** Builds the request for a quote that the solver has found. */
export function requestOf({ locked }: QuoteTheorem, values: Readonly<Record<string, Value>>): PricingRequest {
  const amount = (name: string) => {
    const value = values[name];
    if (value === undefined || typeof value === 'boolean') throw new Error(`${name} is not a number`);
    return value.numerator / value.denominator;
  };
  const [rate, serviceVariableFeeRate, variableFeeRate] = ['rate', 'service', 'platform'].map((name) =>
    formatDecimal(amount(`${name}_thousandths`), 3),
  ) as [string, string, string];
  const terms = { rate, serviceFixedFee: amount('fixed'), serviceVariableFeeRate };
  const lockedAmount = amount(locked === 'SENDING' ? 'send' : 'receive');
  return request('USD', 'EUR', locked, lockedAmount, terms, { fixedFee: 0n, variableFeeRate });
}

/** Calls `use` with the priceQuote of a copy of the source that has the wrong rounding. */
export async function withWrongSource<T>(
  { source: { find, put } }: WrongRounding,
  use: (wrong: typeof priceQuote) => T,
): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'wrong-rounding-'));
  try {
    for (const folder of ['core', 'domain/pricing', 'infra/database'])
      cpSync(join('src', folder), join(copy, 'src', folder), { recursive: true });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, pricingFile), readFileSync(pricingFile, 'utf8').replace(find, put));
    const { priceQuote } = await import(join(copy, 'src/domain/pricing/pricing.ts'));
    return use(priceQuote);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
