import { afterAll, describe, expect, test } from 'vitest';
import { priceQuote } from '../../src/payments/pricing/pricing.ts';
import { numbersOf } from '../proof/quote-cases.ts';
import { Definitions } from '../proof/smt.ts';
import { isInstalled, pricingModel, refute, solve } from '../proof/solver.ts';
import { allTheorems, wrongRoundings } from '../proof/theorems.ts';
import { brokenBy, counterexampleOf, requestOf, withWrongSource } from '../proof/wrong-roundings.ts';

/** The rounding laws of prices, proved for all amounts, rates and fees by the SMT solver z3 (docs/proofs.md). */

const hasSolver = isInstalled('z3');
const proved: string[] = [];
afterAll(() => {
  if (!hasSolver) console.log('SKIPPED: the theorems about prices, because z3 is not installed (Debian: z3)');
  else console.log(`theorems: ${allTheorems.length}, proved: ${proved.length}`);
});

describe.skipIf(!hasSolver)('the rounding laws of prices', () => {
  test.each(allTheorems)('$name', async (theorem) => {
    // Something satisfies what is given: otherwise any claim would follow.
    expect(await solve(theorem, [])).toMatchObject({ answer: 'sat' });
    expect(await refute(theorem)).toMatchObject({ answer: 'unsat' });
    proved.push(theorem.name);
  });
});

describe.skipIf(!hasSolver)('a wrong rounding is found', () => {
  const model = new Definitions(pricingModel);

  test.each(wrongRoundings)('$wrong', async (bug) => {
    const theorem = brokenBy(bug);
    const { answer, values } = await counterexampleOf(bug);
    expect(answer).toBe('sat');
    // The quote that the solver has found: the source keeps the theorem, and with the same fault it does not.
    const request = requestOf(theorem, values);
    const keeps = (price: ReturnType<typeof priceQuote>) => {
      if ('code' in price) throw new Error(price.reason);
      return model.evaluate(theorem.claim, numbersOf(request, price));
    };
    expect(keeps(priceQuote(request))).toBe(true);
    await withWrongSource(bug, (wrong) => expect(keeps(wrong(request))).toBe(false));
  });
});
