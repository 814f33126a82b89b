import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway, uuidIn } from '../setup/gateway.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(1_000_000n);
const stranger = await t.platform.makeScene(0n);
// Creates entries for incoming money, outgoing money, and money converted into another currency.
for (let round = 0; round < 3; round += 1) {
  await t.platform.fund(scene.usd, BigInt(50 + round));
  await t.platform.ended((await t.platform.pay(scene, 100 + round)).id);
  const made = await t.platform.quote(usdToEur(scene));
  await t.platform.execute(made.id);
  await t.platform.ended(made.transaction.id);
}
// This scene's external account has a suffix that makes the bank refuse payments.
const refused = await t.platform.makeScene(5_000n, '004');
await t.platform.ended((await t.platform.pay(refused, 700)).id);
/** An account whose payment was returned. */
const returned = refused.usd;

/** Reads an account's postings from the tables, oldest first. */
async function postings(accountId: string): Promise<Data[]> {
  const { rows } = await t.owner.query(
    `select p.amount::text, p.balance_after::text, uuid_v7_time(p.journal_id) as at, p.journal_id, p.leg, j.transaction_id, upper(j.kind) as kind
     from posting p join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
     where p.account_id = $1 order by p.account_version`,
    [uuidIn(accountId)],
  );
  return rows;
}

const statementFields = `from to openingBalance { amount } closingBalance { amount }
  credits { count amount { amount currency { code } } } debits { count amount { amount } }`;
const document = `query ($id: ID!, $from: DateTime!, $to: DateTime!, $first: Int, $after: String) { account(id: $id) { ... on InternalAccount {
  statement(from: $from, to: $to) { ${statementFields} }
  ledgerEntries(from: $from, to: $to, first: $first, after: $after, sortOrder: ASC) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id kind occurredAt amount { amount } balanceAfter { amount decimal } transaction { id } account { id } } }
  } } } }`;

/** Reads the statement for a period with all its entries, page by page. */
async function statementOf(id: string, from: Date, to: Date, first = 50): Promise<Data> {
  let after: string | undefined;
  const entries: Data[] = [];
  for (;;) {
    const { account } = await t.platform.ask(document, { id, from, to, first, after });
    entries.push(...account.ledgerEntries.edges.map(({ node }: Data) => node));
    expect(account.ledgerEntries.totalCount).toBeGreaterThanOrEqual(entries.length);
    if (!account.ledgerEntries.pageInfo.hasNextPage) return { ...account.statement, entries };
    after = account.ledgerEntries.pageInfo.endCursor;
  }
}

test("a period's opening balance and entries add up to its closing balance, with which the next period opens", async () => {
  const all = await postings(scene.usd);
  expect(all.length).toBeGreaterThan(8);
  const begin = all[0].at.getTime() - 10;
  const span = all.at(-1).at.getTime() - begin + 20;
  const moment = fc.oneof(
    fc.integer({ min: 0, max: span }).map((ms) => begin + ms),
    // The exact time of an entry, and the moments right before and after it.
    fc.tuple(fc.nat(), fc.constantFrom(-1, 0, 1)).map(([at, ms]) => all[at % all.length].at.getTime() + ms),
  );
  await fc.assert(
    fc.asyncProperty(moment, moment, moment, fc.integer({ min: 1, max: 5 }), async (a, b, c, first) => {
      const [from = 0, middle = 0, to = 0] = [a, b, c].toSorted((one, other) => one - other);
      const whole = await statementOf(scene.usd, new Date(from), new Date(to), first);
      const inside = all.filter(({ at }) => at.getTime() >= from && at.getTime() < to);
      const before = all.findLast(({ at }) => at.getTime() < from)?.balance_after ?? '0';
      expect(whole.openingBalance.amount).toBe(before);
      expect(whole.entries).toMatchObject(
        inside.map(({ amount, balance_after, at, journal_id, leg, transaction_id, kind }) => ({
          id: `LedgerEntry:${journal_id}.${leg}`,
          kind,
          occurredAt: at.toISOString(),
          amount: { amount },
          balanceAfter: { amount: balance_after },
          transaction: transaction_id && { id: `Transaction:${transaction_id}` },
          account: { id: scene.usd },
        })),
      );
      const amounts = inside.map(({ amount }) => BigInt(amount));
      const [credits, debits] = [amounts.filter((one) => one > 0n), amounts.filter((one) => one < 0n)];
      const sum = (of: readonly bigint[]) => of.reduce((all, one) => all + one, 0n);
      expect(BigInt(whole.closingBalance.amount)).toBe(BigInt(before) + sum(amounts));
      const credited = { amount: `${sum(credits)}`, currency: { code: 'USD' } };
      expect(whole.credits).toEqual({ count: credits.length, amount: credited });
      expect(whole.debits).toEqual({ count: debits.length, amount: { amount: `${-sum(debits)}` } });
      const earlier = await statementOf(scene.usd, new Date(from), new Date(middle));
      const later = await statementOf(scene.usd, new Date(middle), new Date(to));
      expect([...earlier.entries, ...later.entries]).toEqual(whole.entries);
      expect(later.openingBalance).toEqual(earlier.closingBalance);
    }),
    { numRuns: 25 },
  );
});

test('all data that one request reads about an account is from one point in time, even during payments', async () => {
  const [from, to] = [new Date(0), new Date(Date.now() + 3_600_000)];
  let isPaid = false;
  const paying = Array.from({ length: 30 }, (_one, index) => t.platform.fund(stranger.usd, BigInt(1 + index)));
  const done = Promise.all(paying).then(() => {
    isPaid = true;
  });
  do {
    const { account } = await t.platform.ask(document, { id: stranger.usd, from, to, first: 50 });
    const entries = account.ledgerEntries.edges.map(({ node }: Data) => BigInt(node.amount.amount));
    const sum = entries.reduce((all: bigint, amount: bigint) => all + amount, 0n);
    expect(account.statement).toMatchObject({
      closingBalance: { amount: String(sum) },
      credits: { count: entries.length },
    });
  } while (!isPaid);
  await done;
});

test('a statement whose period ends before it begins is refused, and the error names the field', async () => {
  const { data, errors } = await t.platform.send(document, { id: scene.usd, from: new Date(1), to: new Date(0) });
  expect(data?.account ?? null).toBeNull();
  expect(errors?.[0]).toMatchObject({ path: ['account', 'statement'], extensions: { code: 'INVALID_INPUT' } });
});

test("an app sees only its own customer's statement; a token bound to a payment sees no balance", async () => {
  const [from, to] = [new Date(0), new Date()];
  const app = await t.platform.appOf({ customerId: scene.customerId });
  const { account } = await app.ask(document, { id: scene.usd, from, to, first: 1 });
  expect(account.statement.openingBalance.amount).toBe('0');
  expect((await app.ask(document, { id: stranger.usd, from, to })).account).toBeNull();

  const transaction = await t.platform.pay(scene, 10);
  const legsFor = async (by: TestPlatform): Promise<Data[]> => {
    const legs = 'ledgerEntries { system account { id } balanceAfter { amount } }';
    return (await by.fieldsOf('transaction', transaction.id, legs)).ledgerEntries;
  };
  const seen = await legsFor(await t.platform.appOf({ transactionId: transaction.id }));
  expect(seen).toContainEqual({ system: 'OTHER_ACCOUNT', account: null, balanceAfter: null });
  for (const { balanceAfter } of seen) expect(balanceAfter).toBeNull();
  expect((await legsFor(t.platform)).filter(({ balanceAfter }) => balanceAfter !== null)).toHaveLength(1);
});

test("an account's payments are those from it and to it, and the totals are sums over the list", async () => {
  const fields = `status type sentAmount { amount currency { code } } receivedAmount { amount currency { code } }
    source { ... on AccountSource { accountId } } destination { ... on AccountDestination { accountId } }`;
  const list = `transactions(first: 100) { edges { node { ${fields} } } }
    transactionTotals { status type count amount { amount currency { code } } }`;
  const { account } = await t.platform.ask(`query ($id: ID!) { account(id: $id) { ${list} } }`, { id: scene.usd });
  const { customer, ...all } = await t.platform.ask(`query ($id: ID!) { customer(id: $id) { ${list} } ${list} }`, {
    id: scene.customerId,
  });
  const ends = (edge: Data) => [edge.node.source?.accountId, edge.node.destination?.accountId];
  expect(account.transactions.edges.map(ends)).toEqual(
    all.transactions.edges.map(ends).filter((one: Data[]) => one.includes(scene.usd)),
  );
  for (const list of [account, customer, all]) {
    const rows: Data[] = list.transactions.edges.map(({ node: { status, type, sentAmount, receivedAmount } }: Data) => {
      const { amount, currency } = type === 'OUTGOING' ? sentAmount : receivedAmount;
      return { key: [status, type, currency.code].join(' '), amount: BigInt(amount) };
    });
    const totals = [...Map.groupBy(rows, ({ key }) => key)].map(([key, same]) => {
      return [key, same.length, same.reduce((sum, { amount }) => sum + amount, 0n)];
    });
    const stated = list.transactionTotals.map(({ status, type, count, amount: { amount, currency } }: Data) => {
      return [[status, type, currency.code].join(' '), count, BigInt(amount)];
    });
    expect(stated.sort()).toEqual(totals.sort());
  }
});

async function exported(accountId: string, format: string, from: Date, to: Date): Promise<Response> {
  const query = new URLSearchParams({ format, from: from.toISOString(), to: to.toISOString() });
  return fetch(`${t.url}/2025-10-13/internal-accounts/${accountId}/statement?${query}`, {
    headers: { authorization: t.platform.authorization },
  });
}

test('the CSV lists every entry between the opening and closing balances, with amounts in major units', async () => {
  const all = await postings(scene.usd);
  const [from, to] = [all[2].at, new Date(all.at(-2).at.getTime())];
  const expected = await statementOf(scene.usd, from, to);
  const response = await exported(scene.usd, 'csv', from, to);
  const type = 'text/csv; charset=utf-8; header=present';
  expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
  const [head, opening, ...lines] = (await response.text()).trimEnd().split('\r\n');
  const closing = lines.pop();
  const decimal = (amount: string) => (Number(amount) / 100).toFixed(2);
  expect(head).toBe('occurredAt,entryId,kind,transactionId,reference,amount,currency,balance');
  expect(opening).toBe(`${from.toISOString()},,OPENING_BALANCE,,,,USD,${decimal(expected.openingBalance.amount)}`);
  expect(closing).toBe(`${to.toISOString()},,CLOSING_BALANCE,,,,USD,${decimal(expected.closingBalance.amount)}`);
  expect(lines.map((line) => line.split(',').toSpliced(4, 1))).toEqual(
    expected.entries.map((entry: Data) => [
      entry.occurredAt,
      entry.id,
      entry.kind,
      entry.transaction?.id ?? '',
      decimal(entry.amount.amount),
      'USD',
      entry.balanceAfter.decimal,
    ]),
  );
});

/** The kinds of journals that reverse an earlier one. */
const givingBack = /^(REFUND|RETURN|RESUMPTION)$/;

test('the camt.053 document conforms to the standard, and adds up', async () => {
  const schema = XmlDocument.fromString(readFileSync(new URL('camt053.xsd', import.meta.url), 'utf8'));
  const validator = XsdValidator.fromDoc(schema);
  const [from, to] = [new Date(0), new Date()];
  for (const accountId of [scene.usd, returned, stranger.eur]) {
    const response = await exported(accountId, 'camt.053', from, to);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/xml']);
    const text = await response.text();
    const xml = XmlDocument.fromString(text);
    validator.validate(xml);
    const namespace = { c: 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08' };
    const values = (path: string) => xml.find(path, namespace).map((node) => node.content);
    const units = (text: string) => BigInt(text.replace('.', ''));
    const amounts = values('//c:Ntry/c:Amt');
    const signs = values('//c:Ntry/c:CdtDbtInd');
    const kinds = values('//c:Ntry/c:BkTxCd');
    expect(values('//c:Ntry[c:RvslInd = "true"]/c:BkTxCd')).toEqual(kinds.filter((kind) => givingBack.test(kind)));
    const [opening = '', closing = ''] = values('//c:Bal/c:Amt');
    const sum = amounts.reduce((all, amount, at) => all + (signs[at] === 'DBIT' ? -units(amount) : units(amount)), 0n);
    expect(units(opening) + sum).toBe(units(closing));
    expect(amounts).toHaveLength((await postings(accountId)).length);
    const counts = ['CRDT', 'DBIT'].map((sign) => String(signs.filter((one) => one === sign).length));
    expect(values('//c:TxsSummry//c:NbOfNtries')).toEqual(counts);
    xml.dispose();
  }
  validator.dispose();
  schema.dispose();
});

test('an entry that returns money is a reversal, and an unfinished period has no closing balance', async () => {
  const read = async (accountId: string, format: string, from: Date, to: Date) =>
    (await exported(accountId, format, from, to)).text();
  const [from, later] = [new Date(0), new Date(Date.now() + 86_400_000)];
  const text = await read(returned, 'camt.053', from, later);
  expect(text.match(/<RvslInd>true<\/RvslInd>/g)?.length).toBeGreaterThan(0);
  expect(text).toMatch(/<Cd>ITBD<\/Cd>/);
  expect(text).not.toContain('CLBD');
  const moments = [...text.matchAll(/<(?:To)?DtTm>([^<]+)</g)].map(([, moment = '']) => new Date(moment));
  const [, made = ''] = /<CreDtTm>([^<]+)</.exec(text) ?? [];
  expect(moments.length).toBeGreaterThan(3);
  for (const moment of moments) expect(moment.getTime()).toBeLessThanOrEqual(new Date(made).getTime());
  const closed = await read(returned, 'camt.053', from, new Date(made));
  expect(closed).toContain('<Cd>CLBD</Cd>');
  const lines = (await read(returned, 'csv', later, later)).trimEnd().split('\r\n').slice(1);
  for (const line of lines) expect(new Date(line.split(',')[0] ?? '').getTime()).toBeLessThan(later.getTime());
});

test('camt.053 is refused for assets outside ISO 4217, and for a period that ends before it begins', async () => {
  const usdc = await t.platform.internalAccount(scene.customerId, 'USDC');
  const refusal = await exported(usdc, 'camt.053', new Date(0), new Date());
  expect(refusal.status).toBe(400);
  expect(await refusal.json()).toMatchObject({ code: 'INVALID_CURRENCY', details: { field: 'format' } });
  expect((await exported(usdc, 'csv', new Date(0), new Date())).status).toBe(200);
  const backwards = await exported(scene.usd, 'csv', new Date(1), new Date(0));
  expect(await backwards.json()).toMatchObject({ status: 400, code: 'INVALID_INPUT', details: { field: 'to' } });
  for (const unknown of [scene.outsideUsd, `InternalAccount:${uuidIn(stranger.customerId)}`, 'x']) {
    const response = await exported(unknown, 'csv', new Date(0), new Date());
    expect(await response.json()).toMatchObject({ status: 404, code: 'ACCOUNT_NOT_FOUND' });
  }
});

test('an export that takes several reads is complete, and stops if the client disconnects', async () => {
  const busy = await t.platform.makeScene(0n);
  const fields = [1, 2, 3, 4, 5].map((units) => {
    return `f${units}: sandboxFundAccount(input: { accountId: $account, amount: { units: ${units} } }) { __typename }`;
  });
  const document = `mutation ($account: ID!) { ${fields.join(' ')} }`;
  for (let round = 0; round < 24; round += 1)
    await Promise.all(fields.map(() => t.platform.ask(document, { account: busy.usd })));
  const all = await postings(busy.usd);
  expect(all.length).toBe(600);
  const [from, to] = [new Date(0), new Date(Date.now() + 1_000)];
  const lines = (await (await exported(busy.usd, 'csv', from, to)).text()).trimEnd().split('\r\n');
  expect(lines.slice(2, -1).map((line) => line.split(',')[7])).toEqual(
    all.map(({ balance_after }) => (Number(balance_after) / 100).toFixed(2)),
  );
  const response = await exported(busy.usd, 'camt.053', from, to);
  await response.body?.cancel();
  // The gateway still serves exports, and stops promptly after this test without waiting for the disconnected client.
  expect((await exported(busy.usd, 'csv', from, to)).status).toBe(200);
});
