import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fraction, whole } from '../../src/core/fraction.ts';
import { convertToReceiving, readTerms } from '../../src/domain/pricing/pricing.ts';
import type { PricingRequest } from '../../src/domain/pricing/pricing-steps.ts';
import { numbersOf, priced, requests } from './quote-cases.ts';
import { Definitions, type Value } from './smt.ts';
import { convertedFee, quotes, roundings, wrongRoundings } from './theorems.ts';

/**
 * The theorems about prices concern a model (pricing.smt2). These tests compare the model with the source: they
 * evaluate the text that the solver reads, inserting the results of the real functions. test/soak/proofs.soak.ts proves
 * the theorems.
 */

const text = readFileSync(join(import.meta.dirname, 'pricing.smt2'), 'utf8');
const model = new Definitions(text);

const anyInteger = fc.oneof(fc.bigInt(-20n, 20n), fc.bigInt(-(10n ** 40n), 10n ** 40n));
const anyPositive = fc.oneof(fc.bigInt(1n, 12n), fc.bigInt(1n, 10n ** 40n));

describe('the model of the roundings', () => {
  it.each([
    ['round_down', 'roundDown'],
    ['round_up', 'roundUp'],
    ['round_half_up', 'roundHalfUp'],
  ] as const)('%s matches what the source computes', (name, round) => {
    fc.assert(
      fc.property(anyInteger, anyPositive, (n, d) => {
        const values = { n: whole(n), d: whole(d) };
        expect(model.evaluate(`(${name} n d)`, values)).toEqual(whole(new Fraction(n, d)[round]()));
        for (const { claim } of roundings) expect(model.evaluate(claim, values)).toBe(true);
      }),
    );
  });

  it('fractions are added, subtracted, multiplied, divided and compared by the formulas in the theorems', () => {
    fc.assert(
      fc.property(anyInteger, anyPositive, anyInteger, anyPositive, (a, b, c, d) => {
        const [x, y] = [new Fraction(a, b), new Fraction(c, d)];
        expect(x.plus(y)).toEqual(new Fraction(a * d + c * b, b * d));
        expect(x.minus(y)).toEqual(new Fraction(a * d - c * b, b * d));
        expect(x.times(y)).toEqual(new Fraction(a * c, b * d));
        expect(x.isLessThan(y)).toBe(a * d < c * b);
        if (c > 0n) expect(x.over(y)).toEqual(new Fraction(a * d, b * c));
      }),
    );
  });
});

/** Removes the variable fee that a theorem excludes. */
function withoutFee(request: PricingRequest, theorem: string): PricingRequest {
  if (theorem.includes("without the platform's"))
    return { ...request, platformFee: { ...request.platformFee, variableFeeRate: '0' } };
  if (theorem.includes("without the service's"))
    return { ...request, rate: { ...request.rate, serviceVariableFeeRate: '0' } };
  return request;
}

/** The numbers that make up a price. Changing any of them by one unit must violate the model. */
const computed = {
  SENDING: ['receive', 'platform_part', 'service_part', 'fees'],
  RECEIVING: ['send', 'fees', 'taken'],
};

describe.each(['SENDING', 'RECEIVING'] as const)('the model of a quote with %s locked', (side) => {
  it('accepts exactly what priceQuote computes', () => {
    const given = quotes.find(({ locked, alike }) => locked === side && !alike)?.given ?? [];
    const holds = (values: Record<string, Value>) => given.every((each) => model.evaluate(each, values) === true);
    fc.assert(
      fc.property(requests(side), (request) => {
        const price = priced(request);
        fc.pre(price !== undefined);
        const values = numbersOf(request, price);
        expect(holds(values)).toBe(true);
        for (const name of computed[side])
          for (const step of [1n, -1n]) {
            const other = { ...values, [name]: (values[name] as Fraction).plus(whole(step)) };
            expect(holds(other), name).toBe(false);
          }
      }),
    );
  });

  it.each(quotes.filter(({ locked }) => locked === side))('$name', (theorem) => {
    let applied = 0;
    fc.assert(
      fc.property(requests(side), fc.bigInt(0n, 10n ** 6n), (any, more) => {
        const request = withoutFee(any, theorem.name);
        const price = priced(request);
        fc.pre(price !== undefined);
        const other = {
          ...request,
          ...(theorem.alike === 'MORE' && { lockedAmount: request.lockedAmount + more }),
          ...(theorem.alike === 'BACK' && {
            lockedSide: side === 'SENDING' ? ('RECEIVING' as const) : ('SENDING' as const),
            lockedAmount: side === 'SENDING' ? price.totalReceivingAmount : price.totalSendingAmount,
          }),
        };
        const otherPrice = theorem.alike ? priced(other) : price;
        fc.pre(otherPrice !== undefined);
        // The names of a second quote's numbers end in 2.
        const others = Object.entries(numbersOf(other, otherPrice)).map(([name, value]) => [`${name}2`, value]);
        const values = { ...numbersOf(request, price), ...Object.fromEntries(others) };
        const applies = theorem.given.every((each) => model.evaluate(each, values) === true);
        expect(applies).toBe(true);
        expect(model.evaluate(theorem.claim, values)).toBe(true);
        applied += 1;
      }),
    );
    expect(applied).toBeGreaterThan(20);
  });
});

it("the model of the counterparty's fee gives the amount that is added to the fixed fees", () => {
  fc.assert(
    fc.property(requests('SENDING'), (request) => {
      const { fixedFees, unitsBought } = readTerms(request);
      const amount = fixedFees - request.rate.serviceFixedFee - request.platformFee.fixedFee;
      const fee = whole(request.rate.counterpartyFixedFee);
      const values = { fee, units_bought: unitsBought, amount: whole(amount) };
      for (const each of [...convertedFee.given, convertedFee.claim])
        expect(model.evaluate(each, values), each).toBe(true);
    }),
  );
});

it('half a unit is rounded up, in the model as in the source', () => {
  fc.assert(
    fc.property(requests('SENDING'), fc.bigInt(0n, 10n ** 9n), (request, halves) => {
      const terms = { ...readTerms(request), fixedFees: 0n, shareAfterFee: whole(1n) };
      const { amount } = convertToReceiving({ ...terms, unitsBought: new Fraction(1n, 2n) }, halves);
      const values = { receive: whole(amount), send: whole(halves) };
      expect(model.evaluate('(to_receiving send 0 0.5 0 0 receive)', values)).toBe(true);
    }),
  );
});

it("the soak test's wrong roundings can be planted: each snippet occurs once in the model", () => {
  for (const { find } of wrongRoundings) expect(text.split(find), find).toHaveLength(2);
});
