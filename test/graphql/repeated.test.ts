import { expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { often } from '../setup/statements.ts';

// A repeated document runs with its cached plan, which depends neither on variables nor on the caller.

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(10_000n);
for (const amount of [1, 2])
  await t.platform.succeed('transferOut', {
    ...{ sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd },
    amount: { units: amount },
  });

test('a repeated document uses the current variables in its arguments and directives', async () => {
  const query = `query ($first: Int!, $with: Boolean!, $without: Boolean!) { customers { nodes { id name @skip(if: $without)
    transactions(first: $first) { nodes { id } } ...More @include(if: $with) } } }
    fragment More on Customer { name accounts { nodes { id } } }`;
  for (let again = 0; again < often; again += 1)
    for (const first of [1, 2])
      for (const more of [true, false])
        for (const without of [true, false]) {
          const { customers } = await t.platform.ask(query, { first, with: more, without });
          const [node] = customers.nodes;
          expect([node.transactions.nodes.length, 'accounts' in node, 'name' in node]).toEqual([
            first,
            more,
            more || !without,
          ]);
        }
});

test('a document that another caller may send is refused without the required permission, however often it was sent', async () => {
  const query = '{ customers { totalCount } apiTokens { totalCount } }';
  const reader = await t.platform.serverOf('VIEW');
  for (let again = 0; again < often; again += 1) {
    expect((await t.platform.ask(query)).apiTokens.totalCount).toBeGreaterThan(0);
    expect((await reader.send(query)).errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  }
});

test('a document that has often succeeded still reports an error', async () => {
  const query = 'query ($first: Int!) { customers(first: $first) { nodes { id } } }';
  const wrong = await t.platform.send(query, { first: 101 });
  expect(wrong.errors).toHaveLength(1);
  for (let again = 0; again < often; again += 1) {
    expect((await t.platform.ask(query, { first: 1 })).customers.nodes).toHaveLength(1);
    expect(await t.platform.send(query, { first: 101 })).toEqual(wrong);
  }
});
