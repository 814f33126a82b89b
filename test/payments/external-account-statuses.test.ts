import { describe, expect, test } from 'vitest';
import { between, moving, refusal } from '../setup/acts.ts';
import { type Data, setAccountStatus, testGateway } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

const t = await testGateway();
/** A sandbox so slow that it checks nothing during a test. */
const slow = await testGateway({ SANDBOX_PACE_MS: 600_000 });

const fields = 'status statusReason version beneficiaryVerificationStatus beneficiaryVerifiedData { fullName }';

let made = 0;

/** Registers a US account for a customer, with a number that ends in `suffix`. */
async function register(customerId: string, suffix: string, rest = {}, platform = t.platform): Promise<Data> {
  made += 1;
  const input = {
    ...{ customerId, currency: 'USD', accountInfo: usAccount(`${500_000 + made}${suffix}`) },
    ...{ beneficiary: { individual: { fullName: 'Grace Hopper' } }, ...rest },
  };
  return (await platform.act('createExternalAccount', input, `account { id ${fields} }`)).account;
}
const ofNobody = async (suffix: string) => register(await t.platform.newCustomer(), suffix);

/** Returns the changes to an account after a cursor, up to the one that the test waits for. */
async function changesUntil(after: string, accountId: string, wants: (change: Data) => boolean): Promise<Data[]> {
  const isOfIt = ({ account }: Data) => account.id === accountId;
  const events = await t.platform.followed(
    `subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) {
       account { id ... on ExternalAccount { ${fields} } } } }`,
    { after, filter: { types: ['EXTERNAL_ACCOUNT_STATUS'] } },
    (event) => isOfIt(event) && wants(event.account),
  );
  return events.filter(isOfIt).map(({ account }) => account);
}

const accountOf = (id: string) => t.platform.fieldsOf('account', id, `... on ExternalAccount { ${fields} }`);

describe('an account whose check takes a while', () => {
  test.each([
    ['201', 'ACTIVE'],
    ['202', 'UNDER_REVIEW'],
    ['203', 'INACTIVE'],
    ['204', 'ACTIVE'],
  ])('ending in %s is PENDING at first and then %s, which the feed reports', async (suffix, status) => {
    const after = await t.platform.feedEnd();
    const account = await ofNobody(suffix);
    expect(account).toMatchObject({ status: 'PENDING', version: 1, statusReason: `sandbox suffix ${suffix}` });
    const changes = await changesUntil(after, account.id, (change) => change.status === status);
    expect(changes).toMatchObject([
      { status: 'PENDING', version: 1 },
      { status, version: 2, statusReason: `sandbox suffix ${suffix}` },
    ]);
    expect(await accountOf(account.id)).toMatchObject({ status, version: 2 });
  });

  test.each([
    ['104', 'MATCHED', 'Grace Hopper'],
    ['108', 'NOT_MATCHED', null],
    ['109', 'PARTIAL_MATCH', 'G. Hopper'],
  ])('ending in %s has its owner verified later: PENDING, then %s', async (suffix, verified, fullName) => {
    const after = await t.platform.feedEnd();
    const account = await ofNobody(suffix);
    const shown = (beneficiaryVerificationStatus: string, beneficiaryVerifiedData: object | null) => {
      return { status: 'ACTIVE', beneficiaryVerificationStatus, beneficiaryVerifiedData };
    };
    expect(account).toMatchObject({ ...shown('PENDING', null), version: 1 });
    const moved = (change: Data) => change.beneficiaryVerificationStatus !== 'PENDING';
    const last = (await changesUntil(after, account.id, moved)).at(-1);
    expect(last).toMatchObject({ ...shown(verified, fullName === null ? null : { fullName }), version: 2 });
  });
});

test.each(['PENDING', 'UNDER_REVIEW', 'INACTIVE'])(
  'an account that is %s cannot be the source or destination of a transfer or a quote',
  async (status) => {
    const { platform } = slow;
    const scene = await platform.makeScene(50_000n);
    const { id } = await register(scene.customerId, '201', {}, platform);
    if (status !== 'PENDING') await setAccountStatus(slow, id, status);
    const message = `the external account is ${status}; it must be ACTIVE`;
    for (const [answer, ...path] of [
      [await platform.actOn('transferOut', moving(scene.usd, id, 100)), 'destinationAccountId'],
      [await platform.actOn('transferIn', moving(id, scene.usd, 100)), 'sourceAccountId'],
      [await platform.quote(between(scene.eur, id, 1_000)), 'destination', 'account', 'accountId'],
      [await platform.quote(between(id, scene.outsideEur, 1_000)), 'source', 'account', 'accountId'],
    ])
      expect(answer).toMatchObject({ message, ...refusal('INVALID_BANK_ACCOUNT', ...path) });
    expect(await platform.balanceOf(scene.usd)).toBe(50_000n);
  },
);

describe('an account that is no longer ACTIVE', () => {
  test('blocks the execution of an earlier quote to or from it: nothing is debited, and the quote stays PENDING', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const account = await register(scene.customerId, '000');
    const to = await t.platform.quote(between(scene.usd, account.id, 1_000));
    const from = await t.platform.quote(between(account.id, scene.outsideEur, 1_000));
    await setAccountStatus(t, account.id, 'UNDER_REVIEW');
    for (const { id } of [to, from])
      expect(await t.platform.execute(id)).toMatchObject(refusal('INVALID_BANK_ACCOUNT', 'quoteId'));
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
    await setAccountStatus(t, account.id, 'ACTIVE');
    expect(await t.platform.execute(to.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    expect(await t.platform.ended(to.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('does not stop a payment in flight', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const account = await register(scene.customerId, '000');
    const slowly = { sandboxScenario: { delayMs: 200 } };
    const { id } = await t.platform.transfer('transferOut', { ...scene, outsideUsd: account.id }, 100, slowly);
    await setAccountStatus(t, account.id, 'INACTIVE');
    expect(await t.platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('the default deposit account', () => {
  async function receiver(status?: string) {
    const scene = await t.platform.makeScene(0n);
    const account = await register(scene.customerId, '000', { defaultUmaDepositAccount: true });
    if (status) await setAccountStatus(t, account.id, status);
    return { scene, account };
  }

  test('receives nothing if it is not ACTIVE when a UMA payment arrives: the money stays in the internal account (specification 2.9)', async () => {
    const { scene } = await receiver('UNDER_REVIEW');
    const transaction = await t.platform.announce(scene.customerId, 700);
    await t.platform.actOn('approveTransaction', { transactionId: transaction.id });
    const delivered = { status: 'COMPLETED', destination: { accountId: scene.usd } };
    expect(await t.platform.ended(transaction.id)).toMatchObject(delivered);
    expect(await t.platform.balanceOf(scene.usd)).toBe(700n);
  });

  test('receives nothing if it ceases to be ACTIVE before an internal payment is approved: the money stays in the internal account (specification 2.9)', async () => {
    const from = await t.platform.makeScene(50_000n);
    const { scene, account } = await receiver();
    const { made, incoming } = await t.platform.payByUma(from.usd, scene.customerId);
    expect(incoming).toMatchObject({ destination: { accountId: account.id } });
    await setAccountStatus(t, account.id, 'INACTIVE');
    await t.platform.actOn('approveTransaction', { transactionId: incoming.id });
    const done = await t.platform.ended(incoming.id);
    expect(done).toMatchObject({ status: 'COMPLETED', destination: { accountId: scene.usd } });
    const reasons = done.timeline.map((event: Data) => event.reason);
    expect(reasons).toContain('approved by the platform; the money goes to the internal account');
    expect(await t.platform.balanceOf(scene.usd)).toBe(BigInt(done.receivedAmount.amount));
    expect(await t.platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });
});
