import fc from 'fast-check';
import {
  type GraphQLField,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { often } from '../setup/often.ts';
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

const lists = ['transactions', 'quotes', 'customers', 'accounts'];
const deepest = 9;

/**
 * A document made of choices: the same numbers make the same document, smaller ones a simpler one.
 * @param repeats whether a field may be asked for twice, each time with its own below it, as two fragments often do
 */
function documentOf(choices: readonly number[], roots: readonly string[], repeats: boolean): string {
  let at = 0;
  const choose = (options: number) => (choices[at++ % choices.length] ?? 0) % options;

  function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string | undefined {
    if (field.args.some(isRequiredArgument)) return undefined;
    const type = getNamedType(field.type);
    const inner = isCompositeType(type) ? selectionOf(type.name, depth + 1) : '';
    if (inner === undefined) return undefined;
    const alias = choose(6) === 1 ? `${['a', 'b'][choose(2)]}: ` : '';
    const isList = field.args.some(({ name }) => name === 'first');
    const args = !isList ? '' : choose(2) === 0 ? `(first: ${1 + choose(3)})` : `(last: ${1 + choose(3)})`;
    return `${alias}${field.name}${args}${inner}`;
  }

  function selectionOf(typeName: string, depth: number): string | undefined {
    if (depth > deepest) return undefined;
    const type = schema.getType(typeName);
    const parts = ['__typename'];
    if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      // The way to the rows is always taken, or most documents would stop before them.
      for (const name of ['edges', 'node']) {
        const field = fields.find((one) => one.name === name);
        if (field) parts.push(fieldOf(field, depth) ?? '__typename');
      }
      for (let chosen = choose(4); chosen > 0; chosen--) {
        const field = fields[choose(fields.length)];
        if (!field) continue;
        parts.push(fieldOf(field, depth) ?? '__typename');
        if (repeats && choose(4) === 1) parts.push(fieldOf(field, depth) ?? '__typename');
      }
    }
    if (isAbstractType(type)) {
      const types = schema.getPossibleTypes(type);
      for (let chosen = choose(3); chosen > 0; chosen--) {
        const one = types[choose(types.length)];
        if (one) parts.push(`... on ${one.name} ${selectionOf(one.name, depth + 1) ?? '{ __typename }'}`);
      }
    }
    return `{ ${parts.join(' ')} }`;
  }

  const queryFields = schema.getQueryType()?.getFields() ?? {};
  const asked = roots.slice(0, 1 + choose(2)).map((_root, place) => {
    const field = queryFields[roots[(choose(roots.length) + place) % roots.length] ?? ''];
    return field && `r${place}: ${fieldOf(field, 1)?.replace(/^[ab]: /, '')}`;
  });
  return `{ ${asked.join(' ')} }`;
}

const choices = fc.array(fc.nat(1_000), { minLength: 20, maxLength: 120 });

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
