import { describe, expect, test } from 'vitest';
import { between, fundedIn, usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

const t = await testGateway();
const payer = await t.platform.makeScene();
const payee = await t.platform.makeScene();
await rename(payee.customerId, 'Ada Lovelace');

async function rename(customerId: string, fullName: string): Promise<void> {
  await t.platform.succeed('updateCustomer', { customerId, details: { individual: { fullName } } });
}

/** Creates an app that is bound to the given customer or payment. */
const appOf = (subject: object) => t.platform.payingApp(subject);

const end = (id: string) => `•••• ${id.slice(-4).toUpperCase()}`;

describe('the display name of an account', () => {
  const names = (id: string) => t.platform.fieldsOf('account', id, 'displayName maskedNumber');

  test('names the currency of an internal account, whose masked number is the end of its id', async () => {
    expect(await names(payer.usd)).toEqual({ displayName: 'USD account', maskedNumber: end(payer.usd) });
  });

  test("is the owner's name for an external account, whose masked number is the end of its number", async () => {
    const read = '... on ExternalAccount { accountInfo { ... on UsAccountInfo { accountNumber } } }';
    const { accountInfo } = await t.platform.fieldsOf('account', payer.outsideUsd, read);
    const maskedNumber = `•••• ${accountInfo.accountNumber.slice(-4)}`;
    expect(await names(payer.outsideUsd)).toEqual({ displayName: 'Grace Hopper', maskedNumber });
  });

  test.each([
    ['USD', usAccount('1234'), '•••• 34'],
    ['INR', { upi: { vpa: 'grace@bank' } }, 'gr••••@bank'],
    ['BRL', { pix: { pixKey: 'grace@example.com', pixKeyType: 'EMAIL', taxId: '12345678901' } }, 'gr••••@example.com'],
  ])(
    'shows at most half of a number, or of the part of an address before its domain: %s %j',
    async (currency, accountInfo, shown) => {
      const id = await t.platform.externalAccount(payer.customerId, currency, accountInfo);
      expect(await names(id)).toEqual({ displayName: 'Grace Hopper', maskedNumber: shown });
    },
  );

  test('names the network of a wallet, in mutations and queries alike', async () => {
    const solanaWallet = { address: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' };
    const fields = 'displayName maskedNumber accountInfo { accountType maskedNumber }';
    const input = { customerId: payer.customerId, currency: 'USDC', accountInfo: { solanaWallet } };
    const made = await t.platform.succeed('createExternalAccount', input, `account { id ${fields} }`);
    const { id, ...shown } = made.account;
    const maskedNumber = '•••• gAsU';
    const accountInfo = { accountType: 'SOLANA_WALLET', maskedNumber };
    expect(shown).toEqual({ displayName: 'Solana wallet', maskedNumber, accountInfo });
    expect(await t.platform.fieldsOf('account', id, `... on ExternalAccount { ${fields} }`)).toEqual(shown);
  });
});

describe("the names of a payment's parties", () => {
  const fields = 'source { displayName maskedNumber } destination { displayName maskedNumber }';

  const partiesOf = (platform: TestPlatform, id: string) => platform.fieldsOf('transaction', id, fields);

  test("include the owner's name if an external account is paid; strangers do not see the account's number", async () => {
    const made = await t.platform.quote(between(payer.usd, payee.outsideUsd, 1_000));
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
    const hidden = { displayName: 'USD account', maskedNumber: null };
    expect(await partiesOf(await appOf({ transactionId: id }), id)).toEqual({ source: hidden, destination: hidden });
    expect(await t.platform.fieldsOf('quote', made.id, fields)).toEqual(seenByPlatform);
  });

  test('do not change when a customer is renamed after a payment within this installation', async () => {
    const made = await t.platform.quote(between(payer.usd, payee.usd, 1_000));
    const feedCursor = await t.platform.feedEnd();
    await t.platform.execute(made.id);
    const wants = ({ type, customer, status }: Data) =>
      type === 'INCOMING' && customer?.id === payee.customerId && status === 'COMPLETED';
    const arrival = await t.platform.seen(feedCursor, wants);
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

  test('are the names that a UMA counterparty reports, or else the UMA address', async () => {
    const umaAddress = await t.platform.umaAddressOf(payee.customerId);
    const made = await t.platform.umaQuote(payer.usd, umaAddress);
    const read = `${fields} counterpartyInformation { name value }`;
    const paid = await t.platform.fieldsOf('transaction', made.transaction.id, read);
    const given = paid.counterpartyInformation.find(({ name }: Data) => name === 'FULL_NAME')?.value;
    expect(paid.destination).toEqual({ displayName: given ?? umaAddress, maskedNumber: null });
  });

  test('can be read through the interface and the concrete type in one query', async () => {
    const { id } = await t.platform.quote(fundedIn('USDC', payer, 2_500_000));
    const read = `source { __typename displayName currency { code } }
      destination { displayName currency { code } ... on AccountDestination { accountId } } paymentInstructions { accountType reference }`;
    expect(await t.platform.fieldsOf('quote', id, read)).toMatchObject({
      source: { __typename: 'RealtimeFundingSource', displayName: 'USDC deposit', currency: { code: 'USDC' } },
      destination: { displayName: 'Grace Hopper', currency: { code: 'EUR' }, accountId: payer.outsideEur },
      paymentInstructions: expect.arrayContaining([{ accountType: 'SOLANA_WALLET', reference: null }]),
    });
  });
});

test('a payment whose customer is null states whether it belongs to the platform or to a hidden customer', async () => {
  const ownerOf = (platform: TestPlatform, id: string) =>
    platform.fieldsOf('transaction', id, 'owner customer { id } quote { owner customer { id } }');
  const { transaction, id: quoteId } = await t.platform.quote(usdToEur(payer));
  const customer = { id: payer.customerId };
  const seen = { owner: 'CUSTOMER', customer };
  expect(await ownerOf(t.platform, transaction.id)).toEqual({ ...seen, quote: seen });
  const hidden = { owner: 'HIDDEN', customer: null };
  for (const bound of [{ transactionId: transaction.id }, { quoteId }])
    expect(await ownerOf(await appOf(bound), transaction.id)).toEqual({ ...hidden, quote: hidden });

  const treasury = await t.platform.ownAccount('USD');
  await t.platform.succeed('sandboxFundAccount', { accountId: treasury, amount: 1_000 });
  const own = await t.platform.quote(usdToEur({ ...payer, usd: treasury }));
  const ofPlatform = { owner: 'PLATFORM', customer: null };
  expect(await ownerOf(t.platform, own.transaction.id)).toEqual({ ...ofPlatform, quote: ofPlatform });
  expect(await t.platform.listed('accounts', { currency: 'USD', kind: 'INTERNAL' }, 'id owner')).toEqual(
    expect.arrayContaining([
      { id: treasury, owner: 'PLATFORM' },
      { id: payer.usd, owner: 'CUSTOMER' },
    ]),
  );
});
