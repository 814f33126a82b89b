import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute, feedEnd, mint, pay, quote, seen, succeed, umaAddressOf, umaQuote, usdToEur } from '../setup/acts.ts';
import { connect, type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { externalAccount, makeScene, ownAccount, type Scene } from '../setup/scene.ts';
import { countedGateway } from '../setup/statements.ts';

let t: TestGateway;
let payer: Scene;
let payee: Scene;
beforeAll(async () => {
  t = await startTestGateway();
  payer = await makeScene(t.platform);
  payee = await makeScene(t.platform);
  await rename(payee.customerId, 'Ada Lovelace');
});
afterAll(() => t.stop());

async function rename(customerId: string, fullName: string): Promise<void> {
  await succeed(t.platform, 'updateCustomer', { customerId, details: { individual: { fullName } } });
}

/** Returns the app of a customer or of a payment. */
async function appOf(subject: object): Promise<TestPlatform> {
  const { token } = await mint(t.platform, { permissions: ['VIEW', 'TRANSACT'], ...subject });
  return connect(t.url, t.platform.platformId, `Bearer ${token}`);
}

const end = (id: string) => `•••• ${id.slice(-4).toUpperCase()}`;

describe('the display name of an account', () => {
  const names = async (id: string): Promise<Data> =>
    (await t.platform.ask('query ($id: ID!) { account(id: $id) { displayName maskedNumber } }', { id })).account;

  test('is the currency and the end of the id for an internal account', async () => {
    expect(await names(payer.usd)).toEqual({ displayName: 'USD account', maskedNumber: end(payer.usd) });
  });

  test('is the owner and the end of the number for an external account', async () => {
    const { account } = await t.platform.ask(
      'query ($id: ID!) { account(id: $id) { ... on ExternalAccount { accountInfo { ... on UsAccountInfo { accountNumber } } } } }',
      { id: payer.outsideUsd },
    );
    expect(await names(payer.outsideUsd)).toEqual({
      displayName: 'Grace Hopper',
      maskedNumber: `•••• ${account.accountInfo.accountNumber.slice(-4)}`,
    });
  });

  test.each([
    ['USD', { usAccount: { accountNumber: '1234', routingNumber: '021000021', accountCategory: 'SAVINGS' } }, '34'],
    ['INR', { upi: { vpa: 'grace@bank' } }, 'bank'],
    ['BRL', { pix: { pixKey: 'grace@example.com', pixKeyType: 'EMAIL', taxId: '12345678901' } }, '.com'],
  ])('shows at most half of the number, whatever its kind: %s %j', async (currency, accountInfo, shown) => {
    const id = await externalAccount(t.platform, payer.customerId, currency, accountInfo);
    expect(await names(id)).toEqual({ displayName: 'Grace Hopper', maskedNumber: `•••• ${shown}` });
  });

  test('is the network and type for a wallet; a mutation and a query agree', async () => {
    const solanaWallet = { address: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' };
    const fields = 'displayName maskedNumber accountInfo { accountType maskedNumber }';
    const input = { customerId: payer.customerId, currency: 'USDC', accountInfo: { solanaWallet } };
    const made = await succeed(t.platform, 'createExternalAccount', input, `account { id ${fields} }`);
    const { id, ...shown } = made.account;
    expect(shown).toEqual({
      displayName: 'Solana wallet',
      maskedNumber: '•••• gAsU',
      accountInfo: { accountType: 'SOLANA_WALLET', maskedNumber: '•••• gAsU' },
    });
    const query = `query ($id: ID!) { account(id: $id) { ... on ExternalAccount { ${fields} } } }`;
    expect((await t.platform.ask(query, { id })).account).toEqual(shown);
  });

  test('is read without naming a type, in one statement', async () => {
    const query = `query ($id: ID!) { customer(id: $id) { accounts { edges { node { displayName maskedNumber
      ... on InternalAccount { fundingPaymentInstructions { accountType reference } }
      ... on ExternalAccount { accountInfo { accountType maskedNumber ... on PixAccountInfo { pixKey } } } } } } } }`;
    const counting = await countedGateway(t);
    const ask = () => counting.platform.ask(query, { id: payer.customerId });
    const { result, statements } = await counting.statements.during(ask);
    await counting.stop();
    const nodes = result.customer.accounts.edges.map(({ node }: Data) => node);
    expect(nodes.flatMap((node: Data) => node.accountInfo?.accountType ?? [])).toContain('PIX');
    expect(nodes.flatMap((node: Data) => node.fundingPaymentInstructions ?? [])).toContainEqual({
      accountType: 'US_ACCOUNT',
      reference: expect.any(String),
    });
    expect(statements).toHaveLength(1);
  });
});

describe('the names of the parties of a payment', () => {
  const fields = 'source { displayName maskedNumber } destination { displayName maskedNumber }';

  async function partiesOf(platform: TestPlatform, id: string): Promise<Data> {
    const query = `query ($id: ID!) { transaction(id: $id) { ${fields} } }`;
    return (await platform.ask(query, { id })).transaction;
  }

  test("to another customer's account include the payee's; strangers do not see its number", async () => {
    const made = await quote(t.platform, {
      source: { account: { accountId: payer.usd } },
      destination: { account: { accountId: payee.outsideUsd } },
      lockedCurrencyAmount: 1_000n,
    });
    const { id } = made.transaction;
    const own = { displayName: 'USD account', maskedNumber: end(payer.usd) };
    const seenByPlatform = await partiesOf(t.platform, id);
    expect(seenByPlatform).toEqual({
      source: own,
      destination: { displayName: 'Grace Hopper', maskedNumber: expect.stringMatching(/^•••• \d{4}$/) },
    });
    expect(await partiesOf(await appOf({ customerId: payer.customerId }), id)).toEqual({
      source: own,
      destination: { displayName: 'Grace Hopper', maskedNumber: null },
    });
    expect(await partiesOf(await appOf({ transactionId: id }), id)).toEqual({
      source: { displayName: 'USD account', maskedNumber: null },
      destination: { displayName: 'USD account', maskedNumber: null },
    });
    const asked = await t.platform.ask(`query ($id: ID!) { quote(id: $id) { ${fields} } }`, { id: made.id });
    expect(asked.quote).toEqual(seenByPlatform);
  });

  test('between accounts of this installation stay as they were when the payment was made', async () => {
    const made = await quote(t.platform, {
      source: { account: { accountId: payer.usd } },
      destination: { account: { accountId: payee.usd } },
      lockedCurrencyAmount: 1_000n,
    });
    const feedCursor = await feedEnd(t.platform);
    await execute(t.platform, made.id);
    const wants = ({ type, customer, status }: Data) =>
      type === 'INCOMING' && customer?.id === payee.customerId && status === 'COMPLETED';
    const arrival = await seen(t.platform, feedCursor, wants);
    await rename(payee.customerId, 'Ada King');
    await rename(payer.customerId, 'Grace Murray');
    try {
      expect(await partiesOf(await appOf({ customerId: payer.customerId }), made.transaction.id)).toEqual({
        source: { displayName: 'USD account', maskedNumber: end(payer.usd) },
        destination: { displayName: 'Ada Lovelace', maskedNumber: null },
      });
      expect(await partiesOf(await appOf({ customerId: payee.customerId }), arrival.id)).toEqual({
        source: { displayName: 'Grace Hopper', maskedNumber: null },
        destination: { displayName: 'USD account', maskedNumber: end(payee.usd) },
      });
    } finally {
      await rename(payee.customerId, 'Ada Lovelace');
      await rename(payer.customerId, 'Grace Hopper');
    }
  });

  test('at a UMA address are those that its side reports, or else the address', async () => {
    const umaAddress = await umaAddressOf(t.platform, payee.customerId);
    const made = await umaQuote(t.platform, payer.usd, umaAddress);
    const { transaction } = await t.platform.ask(
      `query ($id: ID!) { transaction(id: $id) { ${fields} counterpartyInformation { name value } } }`,
      { id: made.transaction.id },
    );
    const given = transaction.counterpartyInformation.find(({ name }: Data) => name === 'FULL_NAME')?.value;
    expect(transaction.destination).toEqual({ displayName: given ?? umaAddress, maskedNumber: null });
  });

  test('from outside can be read through the interface and the concrete type together', async () => {
    const source = { realtimeFunding: { customerId: payer.customerId, currency: 'USDC' } };
    const { id } = await quote(t.platform, { ...usdToEur(payer), source, lockedCurrencyAmount: 2_500_000 });
    const query = `query ($id: ID!) { quote(id: $id) { source { __typename displayName currency { code } }
      destination { displayName currency { code } ... on AccountDestination { accountId } } paymentInstructions { accountType reference } } }`;
    expect((await t.platform.ask(query, { id })).quote).toMatchObject({
      source: { __typename: 'RealtimeFundingSource', displayName: 'USDC deposit', currency: { code: 'USDC' } },
      destination: { displayName: 'Grace Hopper', currency: { code: 'EUR' }, accountId: payer.outsideEur },
      paymentInstructions: expect.arrayContaining([{ accountType: 'SOLANA_WALLET', reference: null }]),
    });
  });

  test('are also in the stream and in a list of a transfer', async () => {
    const { id } = await pay(t.platform, payer);
    const { transactions } = await t.platform.ask(`{ transactions(first: 1) { edges { node { id ${fields} } } } }`);
    expect(transactions.edges[0].node).toMatchObject({ id, destination: { displayName: 'Grace Hopper' } });
    const updates = `subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { transaction { ${fields} } } }`;
    for await (const { data } of t.platform.watch(updates, { id })) {
      expect(data.transactionUpdates.transaction.destination).toEqual(transactions.edges[0].node.destination);
    }
  });
});

test('a payment whose customer is null states whether it is the platform’s or a hidden customer’s', async () => {
  const ownerOf = async (platform: TestPlatform, id: string) =>
    (
      await platform.ask(
        `query ($id: ID!) { transaction(id: $id) { owner customer { id } quote { owner customer { id } } } }`,
        { id },
      )
    ).transaction;
  const { transaction, id: quoteId } = await quote(t.platform, usdToEur(payer));
  const customer = { id: payer.customerId };
  const seen = { owner: 'CUSTOMER', customer };
  expect(await ownerOf(t.platform, transaction.id)).toEqual({ ...seen, quote: seen });
  const hidden = { owner: 'HIDDEN', customer: null };
  for (const bound of [{ transactionId: transaction.id }, { quoteId }])
    expect(await ownerOf(await appOf(bound), transaction.id)).toEqual({ ...hidden, quote: hidden });

  const treasury = await ownAccount(t.platform, 'USD');
  await succeed(t.platform, 'sandboxFundAccount', { accountId: treasury, amount: 1_000 });
  const own = await quote(t.platform, usdToEur({ ...payer, usd: treasury }));
  const ofPlatform = { owner: 'PLATFORM', customer: null };
  expect(await ownerOf(t.platform, own.transaction.id)).toEqual({ ...ofPlatform, quote: ofPlatform });
  const accounts = '{ accounts(first: 100, filter: { currency: "USD", kind: INTERNAL }) { nodes { id owner } } }';
  expect((await t.platform.ask(accounts)).accounts.nodes).toEqual(
    expect.arrayContaining([
      { id: treasury, owner: 'PLATFORM' },
      { id: payer.usd, owner: 'CUSTOMER' },
    ]),
  );
});
