import { expect, test } from 'vitest';
import { between } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { chargeFees } from '../setup/scene.ts';

// An indicative rate, including all fees, equals the rate of a quote made at the same moment.

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);
const scene = await t.platform.makeScene();

async function rateOf(sendingAmount: number): Promise<Data> {
  const query = `query ($units: BigInt!) { exchangeRates(source: "USD", destinations: ["EUR"], sendingAmount: { units: $units }) {
    rate sendingAmount { amount } receivingAmount { amount } fees { amount } } }`;
  return (await t.platform.ask(query, { units: sendingAmount })).exchangeRates[0];
}

test.each([
  ['no fee', 0n, '0'],
  ['a fixed fee', 25n, '0'],
  ['a share', 0n, '0.0125'],
  ['a fixed fee and a share', 25n, '0.0125'],
])("an indicative rate equals a quote's rate if the platform charges %s", async (_what, fixedFee, variableFeeRate) => {
  await chargeFees(t, t.platform, fixedFee, variableFeeRate);
  for (const amount of [100, 9_999, 1_000_000]) {
    const fields = 'exchangeRate totalSendingAmount { amount } totalReceivingAmount { amount } feesIncluded { amount }';
    const input = between(scene.usd, scene.outsideEur, amount);
    const { quote } = await t.platform.succeed('createQuote', input, `quote { ${fields} }`);
    expect(await rateOf(amount)).toEqual({
      rate: quote.exchangeRate,
      sendingAmount: quote.totalSendingAmount,
      receivingAmount: quote.totalReceivingAmount,
      fees: quote.feesIncluded,
    });
  }
});

test('fixed fees do not grow with the amount', async () => {
  await chargeFees(t, t.platform, 25n, '0.0125');
  const feesOf = async (sendingAmount: number) =>
    (await rest.ask('GET', `/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR&sendingAmount=${sendingAmount}`))
      .data[0];
  const [small, large] = [await feesOf(1_000), await feesOf(1_000_000)];
  expect(small.fees.fixed).toBe(large.fees.fixed);
  expect(small.fees.fixed).toBeGreaterThan(25);
  // The smallest amount that can be sent is one unit more than the fixed fees.
  const least = await feesOf(small.fees.fixed + 1);
  expect(least.fees.fixed).toBe(small.fees.fixed);
});

test('without an amount, both APIs price every conversion, even from a currency with small units', async () => {
  const { currencies } = await t.platform.ask('{ currencies { code } }');
  const codes: string[] = currencies.map(({ code }: Data) => code);
  const query = `query ($source: CurrencyCode!) {
    exchangeRates(source: $source) { destination { code } sendingAmount { amount } minSendingAmount { amount } } }`;
  for (const source of codes) {
    const { exchangeRates } = await t.platform.ask(query, { source });
    const { data } = await rest.ask('GET', `/exchange-rates?sourceCurrency=${source}`);
    for (const destination of codes.filter((code) => code !== source)) {
      const rate = exchangeRates.find((one: Data) => one.destination.code === destination);
      const amount = Math.max(10_000, Number(rate?.minSendingAmount.amount));
      const shown = data.find((one: Data) => one.destinationCurrency.code === destination);
      expect([source, destination, rate?.sendingAmount.amount, shown?.sendingAmount]).toEqual([
        ...[source, destination, String(amount), amount],
      ]);
    }
  }
});
