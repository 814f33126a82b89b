import pg from 'pg';
import type { Prepared } from './prepare.ts';

/** The measured mutations, and the peers' equivalent calls. */
export interface Writes {
  readonly transferMany: readonly string[];
  readonly transferHot: readonly string[];
  readonly replay: readonly string[];
  /** The request bodies for REST's transfer-out. */
  readonly restTransfer: readonly string[];
  readonly createQuote: readonly string[];
  executeQuote(quoteIds: readonly string[]): readonly string[];
  readonly peer: {
    readonly transferMany: readonly string[];
    readonly transferHot: readonly string[];
    executeQuote(quoteIds: readonly string[]): readonly string[];
    readonly sql: string;
    readonly many: readonly (readonly unknown[])[];
    readonly hot: readonly (readonly unknown[])[];
    readonly executeSql: string;
  };
  readonly customerIds: readonly string[];
}

const transferOut = `mutation ($input: TransferOutInput!) { transferOut(input: $input) {
  ... on TransferOutSuccess { replayed transaction { id status sentAmount { amount } createdAt } } ... on UserError { code message } } }`;
const createQuote = `mutation ($input: CreateQuoteInput!) { createQuote(input: $input) {
  ... on CreateQuoteSuccess { quote { id status totalSendingAmount { amount } totalReceivingAmount { amount } exchangeRate expiresAt } } ... on UserError { code message } } }`;
const executeQuote = `mutation ($input: ExecuteQuoteInput!) { executeQuote(input: $input) {
  ... on ExecuteQuoteSuccess { replayed quote { id status totalSendingAmount { amount } } } ... on UserError { code message } } }`;
const peerTransfer = `mutation ($input: BenchTransferOutInput!) { benchTransferOut(input: $input) { result { rowId status sentAmount createdAt } } }`;
const peerExecute = `mutation ($input: BenchExecuteQuoteInput!) { benchExecuteQuote(input: $input) { result { rowId status totalSendingAmount } } }`;

const document = (query: string, input: object) => JSON.stringify({ query, variables: { input } });

/** The number of accounts in cases with many accounts, the same as the number of subscribers in the fan-out case. */
const accounts = 1_000;

/** Builds the request bodies for writes from many accounts and from a single one. */
export async function writesOf(prepared: Prepared): Promise<Writes> {
  const client = new pg.Client({ connectionString: prepared.url });
  await client.connect();
  const { rows } = await client.query<{ customer: string; source: string; usd: string; eur: string }>(
    `select bench.owned(1, c) as customer, bench.owned(2, c) as source, bench.owned(4, c) as usd, bench.owned(6, c) as eur
     from generate_series(0::bigint, least($1::bigint, ${accounts}) - 1) c`,
    [prepared.customers],
  );
  await client.end();
  const transfer = (row: (typeof rows)[number], idempotencyKey = '%KEY%') =>
    document(transferOut, {
      sourceAccountId: `InternalAccount:${row.source}`,
      destinationAccountId: `ExternalAccount:${row.usd}`,
      amount: { units: 100 },
      idempotencyKey,
    });
  const values = ({ source, usd }: (typeof rows)[number]) => [source, usd, 100, '%KEY%'];
  const peer = (row: (typeof rows)[number]) =>
    document(peerTransfer, { source: row.source, destination: row.usd, amount: '100', key: '%KEY%' });
  const hot = rows.slice(0, 1);
  return {
    transferMany: rows.map((row) => transfer(row)),
    transferHot: hot.map((row) => transfer(row)),
    replay: hot.map((row) => transfer(row, `replay-${Date.now()}`)),
    restTransfer: rows.map(({ source, usd }) =>
      JSON.stringify({
        source: { accountId: `InternalAccount:${source}` },
        destination: { accountId: `ExternalAccount:${usd}` },
        amount: 100,
      }),
    ),
    createQuote: rows.map((row) =>
      document(createQuote, {
        source: { account: { accountId: `InternalAccount:${row.source}` } },
        destination: { account: { accountId: `ExternalAccount:${row.eur}` } },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: { units: 10_000 },
        idempotencyKey: '%KEY%',
      }),
    ),
    executeQuote: (ids) => ids.map((id) => document(executeQuote, { quoteId: `Quote:${id}`, idempotencyKey: '%KEY%' })),
    peer: {
      transferMany: rows.map(peer),
      transferHot: hot.map(peer),
      executeQuote: (ids) => ids.map((id) => document(peerExecute, { quoteId: id, key: '%KEY%' })),
      sql: `select row_to_json(t)::text as json from bench.transfer_out($1, $2, $3, $4) t`,
      many: rows.map(values),
      hot: hot.map(values),
      executeSql: `select row_to_json(q)::text as json from bench.execute_quote($1, $2) q`,
    },
    customerIds: rows.map(({ customer }) => `Customer:${customer}`),
  };
}

/** Builds the request bodies for the hand-written handler. */
export function byHandBodies(name: string, values: readonly (readonly unknown[])[]): string[] {
  return values.map((each) => JSON.stringify({ name, values: each }));
}
