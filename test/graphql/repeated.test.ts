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

test('a repeated list query also works if it filters on other fields, on more or fewer values, or on a value given twice', async () => {
  const payments = `query ($filter: TransactionFilter) { transactions(filter: $filter) {
    nodes { id createdAt reconciliationReference customer { platformCustomerId } } } }`;
  const accounts = 'query ($filter: AccountFilter) { accounts(filter: $filter) { nodes { id __typename } } }';
  const all = {
    payments: (await t.platform.ask(payments)).transactions.nodes,
    accounts: (await t.platform.ask(accounts, { filter: { customerId: scene.customerId } })).accounts.nodes,
  };
  const [newest, oldest] = [all.payments[0], all.payments.at(-1)];
  const { platformCustomerId } = newest.customer;
  const kindOf = (kind: string) =>
    all.accounts.filter(({ __typename }: { __typename: string }) => __typename.startsWith(kind));
  const cases: [filter: object, expected: readonly { id: string }[]][] = [
    [{ type: ['OUTGOING'] }, all.payments],
    [{ type: ['INCOMING'] }, []],
    [{ type: ['INCOMING', 'OUTGOING'] }, all.payments],
    [{ type: ['INCOMING', 'INCOMING'] }, []],
    [{ accountId: scene.usd, customerId: scene.customerId }, all.payments],
    [{ accountId: scene.eur, customerId: scene.customerId }, []],
    [
      { createdAfter: newest.createdAt, createdBefore: newest.createdAt },
      all.payments.filter(({ createdAt }: { createdAt: string }) => createdAt === newest.createdAt),
    ],
    [{ createdAfter: oldest.createdAt, createdBefore: newest.createdAt }, all.payments],
    [{ executed: false }, []],
    [{ executed: true }, all.payments],
    [{ senderAccountIdentifier: scene.usd, receiverAccountIdentifier: scene.usd }, []],
    [{ reference: platformCustomerId, platformCustomerId }, []],
    [{ reference: newest.reconciliationReference, platformCustomerId }, [newest]],
    [{ senderAccountIdentifier: scene.usd, receiverAccountIdentifier: scene.outsideUsd }, all.payments],
    [{ senderAccountIdentifier: scene.outsideUsd, receiverAccountIdentifier: scene.usd }, []],
  ];
  for (let again = 0; again < often; again += 1) {
    for (const [filter, expected] of cases)
      expect([filter, (await t.platform.ask(payments, { filter })).transactions.nodes]).toEqual([filter, expected]);
    for (const kind of ['INTERNAL', 'EXTERNAL'])
      expect(
        (await t.platform.ask(accounts, { filter: { kind, customerId: scene.customerId } })).accounts.nodes,
      ).toEqual(kindOf(kind === 'INTERNAL' ? 'Internal' : 'External'));
  }
});

test('a document that another caller has sent repeatedly is still refused for callers without the required permission', async () => {
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
