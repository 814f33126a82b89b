import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { often } from '../setup/often.ts';
import { choices, documentOf, lists } from '../setup/random-documents.ts';
import { makeScene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
  for (let made = 0; made < 3; made++) {
    const scene = await makeScene(t.platform, 10_000n);
    await t.platform.ask(
      'mutation ($from: ID!, $to: ID!) { transferOut(input: { sourceAccountId: $from, destinationAccountId: $to, amount: 100 }) { ... on TransferOutSuccess { replayed } } }',
      { from: scene.usd, to: scene.outsideUsd },
    );
    await t.platform.ask(
      'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { ... on CreateQuoteSuccess { replayed } } }',
      {
        input: {
          source: { account: { accountId: scene.usd } },
          destination: { account: { accountId: scene.outsideEur } },
          lockedCurrencySide: 'SENDING',
          lockedCurrencyAmount: 1_000,
          immediatelyExecute: made > 0,
        },
      },
    );
  }
});
afterAll(() => t.stop());

/** Asks for random documents again and again; each answer, and what was counted meanwhile, must be that of the first time. */
async function askAgainAndAgain(documents: fc.Arbitrary<string>, count: () => number): Promise<void> {
  let answered = 0;
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(documents, async (query) => {
      const ask = async () => {
        t.statements.length = 0;
        const answer = await t.platform.send(query);
        return { answer, count: count() };
      };
      const first = await ask();
      asked += 1;
      if (first.answer.data) answered += 1;
      expect(JSON.stringify(first.answer)).not.toContain('INTERNAL_SERVER_ERROR');
      for (let again = 0; again < often; again++) expect(await ask()).toEqual(first);
    }),
    { numRuns: 75 },
  );
  // Some ask one alias of two fields, or for more than the budget: many must be good for this to say anything.
  expect(answered).toBeGreaterThan(asked / 4);
}

test('whatever is asked is answered the same, by as many statements, when it is asked again and again', () =>
  askAgainAndAgain(
    choices.map((chosen) => documentOf(chosen, lists, false)),
    () => t.statements.length,
  ));

test('whatever is asked of the feed, or asked for twice in one document, is answered the same again and again', () =>
  askAgainAndAgain(
    choices.map((chosen) => documentOf(chosen, [...lists, 'events', 'events'], true)),
    // Rows that were read without what is asked of them are asked together, as far as they come together.
    () => 0,
  ));
