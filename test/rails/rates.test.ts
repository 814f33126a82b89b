import { describe, expect, it } from 'vitest';
import { type CurrencyCode, currencies, requiredCurrency } from '../../src/core/currencies.ts';
import { parseDecimal, rateFault, tenTo, whole } from '../../src/core/fraction.ts';
import { checkedSettings } from '../../src/rails/rail-settings.ts';
import { rateOverrides, sandboxTerms } from '../../src/rails/sandbox/rates.ts';

const [usd, eur, jpy] = [requiredCurrency('USD'), requiredCurrency('EUR'), requiredCurrency('JPY')];
const pairs = currencies.flatMap((sending) => currencies.map((receiving) => [sending, receiving] as const));

describe('the rate table of the sandbox', () => {
  it('has a usable rate for every ordered pair of currencies', () => {
    expect(pairs).toHaveLength(196);
    for (const [sending, receiving] of pairs) {
      const terms = sandboxTerms(sending, receiving);
      expect(rateFault(terms.rate)).toBeUndefined();
      expect(rateFault(terms.bridge)).toBeUndefined();
      expect(terms).toMatchObject({ serviceVariableFeeRate: '0.003', maxSendingAmount: 9_000_000_000_000_000n });
    }
  });

  it('converts a currency to itself at a rate of 1, and loses the spread when converting to another and back', () => {
    for (const [sending, receiving] of pairs) {
      const there = parseDecimal(sandboxTerms(sending, receiving).rate);
      const andBack = there.times(parseDecimal(sandboxTerms(receiving, sending).rate));
      if (sending.code === receiving.code) expect(sandboxTerms(sending, receiving).rate).toBe('1');
      else {
        expect(parseDecimal('1.0079').isLessThan(andBack)).toBe(true);
        expect(andBack.isLessThan(parseDecimal('1.0081'))).toBe(true);
      }
    }
  });

  it.each<[CurrencyCode, CurrencyCode, string]>([
    ['USD', 'EUR', '1.0912476'],
    ['EUR', 'BTC', '92372.80338578'],
    ['BTC', 'JPY', '0.000000067268'],
    ['JPY', 'BTC', '14985074.6268657'],
    ['EUR', 'NGN', '0.000600423222007544'],
  ])('is the same every day: %s to %s at %s', (sending, receiving, rate) => {
    expect(sandboxTerms(requiredCurrency(sending), requiredCurrency(receiving)).rate).toBe(rate);
  });

  it('has minimum amounts that exceed the fees and are worth at most 0.10 US dollars', () => {
    for (const sending of currencies) {
      const { serviceFixedFee, minSendingAmount, bridge } = sandboxTerms(sending, usd);
      const bitcoinInDollars = parseDecimal(sandboxTerms(usd, usd).bridge);
      const tenCents = parseDecimal('0.1').times(parseDecimal(bridge)).over(bitcoinInDollars);
      expect(tenCents.times(tenTo(sending.decimals)).isLessThan(whole(minSendingAmount))).toBe(false);
      expect(serviceFixedFee > 0n && serviceFixedFee < minSendingAmount).toBe(true);
    }
  });
});

describe("the rates in the sandbox's settings", () => {
  const parseRateOverrides = (json: string) => checkedSettings(rateOverrides, JSON.parse(json));

  it('replace entries in the table, are used unchanged, and leave the other entries as they are', () => {
    const rates = parseRateOverrides('{"USD/EUR": {"rate": "1.08695652", "fixedFee": 500, "variableFeeRate": "0"}}');
    expect(sandboxTerms(usd, eur, rates)).toMatchObject({
      rate: '1.08695652',
      serviceFixedFee: 500n,
      serviceVariableFeeRate: '0',
    });
    expect(sandboxTerms(eur, usd, rates)).toEqual(sandboxTerms(eur, usd));
  });

  it('keep the table’s fees if they specify none', () => {
    const rates = parseRateOverrides('{"USD/JPY": {"rate": "0.00666666666666667"}}');
    expect(sandboxTerms(usd, jpy, rates)).toEqual({ ...sandboxTerms(usd, jpy), rate: '0.00666666666666667' });
  });

  it.each<[string, string]>([
    ['[]', 'must be an object with keys such as "USD/EUR"'],
    ['{"USD": {"rate": "1"}}', 'USD must be the codes of two known currencies, such as "USD/EUR"'],
    ['{"USD/EUR/GBP": {"rate": "1"}}', 'USD/EUR/GBP must be the codes of two known currencies, such as "USD/EUR"'],
    ['{"USD/XAU": {"rate": "1"}}', 'USD/XAU must be the codes of two known currencies, such as "USD/EUR"'],
    ['{"USD/USD": {"rate": "2"}}', 'USD/USD rate must be 1 between a currency and itself'],
    ['{"USD/EUR": "1.1"}', 'USD/EUR '],
    ['{"USD/EUR": {"rate": "1", "fee": 1}}', 'USD/EUR Unrecognized key: "fee"'],
    ['{"USD/EUR": {}}', 'USD/EUR rate must be a decimal in quotation marks'],
    ['{"USD/EUR": {"rate": 1.1}}', 'USD/EUR rate must be a decimal in quotation marks'],
    ['{"USD/EUR": {"rate": "1e3"}}', 'USD/EUR rate must be a plain decimal such as "1.08695652", not "1e3"'],
    [
      '{"USD/EUR": {"rate": "1", "variableFeeRate": "1"}}',
      'USD/EUR variableFeeRate must be at least 0 and less than 1, not "1"',
    ],
    [
      '{"USD/EUR": {"rate": "1", "variableFeeRate": "-0.1"}}',
      'USD/EUR variableFeeRate must be at least 0 and less than 1, not "-0.1"',
    ],
    ['{"USD/EUR": {"rate": "1", "fixedFee": -1}}', 'USD/EUR fixedFee '],
    ['{"USD/EUR": {"rate": "1", "fixedFee": 1.5}}', 'USD/EUR fixedFee '],
    ['{"USD/EUR": {"rate": "1", "fixedFee": "5"}}', 'USD/EUR fixedFee '],
    ['{"USD/EUR": {"rate": "1", "fixedFee": 9007199254740991}}', 'USD/EUR fixedFee '],
  ])('are refused if they are %s, naming the pair, the field and the reason', (setting, message) => {
    expect(() => parseRateOverrides(setting)).toThrow(RangeError);
    expect(() => parseRateOverrides(setting)).toThrow(message);
  });

  it('are refused with all faults in one message', () => {
    expect(() =>
      parseRateOverrides('{"USD/EUR": {"rate": "0", "variableFeeRate": "1"}, "EUR/USD": {"rate": "x"}}'),
    ).toThrow(
      new RangeError(
        [
          'USD/EUR rate must be greater than 0, not "0"',
          'USD/EUR variableFeeRate must be at least 0 and less than 1, not "1"',
          'EUR/USD rate must be a plain decimal such as "1.08695652", not "x"',
        ].join('; '),
      ),
    );
  });
});
