import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readValues, type Value } from './smt.ts';
import type { Theorem } from './theorems.ts';

/** The SMT solver z3, if it is installed. */

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
