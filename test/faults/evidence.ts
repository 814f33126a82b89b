import { setTimeout as delay } from 'node:timers/promises';
import { sequenceIn } from '../setup/cursors.ts';
import { mutationName } from '../setup/documents.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';
import type { Change, Command, Payment, Receipt } from './history.ts';

/** Repeats a query until it succeeds, because the instances may still be restarting. */
async function ask(platform: TestPlatform, query: string, variables: object = {}): Promise<Data> {
  for (;;) {
    const answer = await platform.ask(query, variables).catch((error: unknown) => error);
    if (!(answer instanceof Error)) return answer;
    await delay(50);
  }
}

async function all<T>(
  platform: TestPlatform,
  query: string,
  after: string | undefined,
  pageIn: (data: Data) => Data,
  read: (edge: Data) => T,
): Promise<T[]> {
  const rows: T[] = [];
  for (let cursor = after; ; ) {
    const { edges, pageInfo } = pageIn(await ask(platform, query, { after: cursor }));
    rows.push(...edges.map(read));
    if (!pageInfo.hasNextPage) return rows;
    cursor = pageInfo.endCursor;
  }
}

export function readPayments(platform: TestPlatform): Promise<Payment[]> {
  return all(
    platform,
    `query ($after: String) { transactions(first: 100, after: $after, sortOrder: ASC) {
      edges { node { id description status } } pageInfo { hasNextPage endCursor } } }`,
    undefined,
    ({ transactions }) => transactions,
    ({ node }) => node,
  );
}

export function readFeed(platform: TestPlatform, start: string): Promise<Change[]> {
  return all(
    platform,
    `query ($after: String) { events(first: 100, after: $after) {
      edges { cursor node { id type subject { ... on Transaction { id status version } } } } pageInfo { hasNextPage endCursor } } }`,
    start,
    ({ events }) => events,
    ({ cursor, node: { id, type, subject } }) => ({
      id,
      sequence: sequenceIn(platform.platformId, cursor),
      ...(type.endsWith('_PAYMENT') && { payment: subject }),
    }),
  );
}

/** The maximum number of aliases in a document. */
const receiptsAtOnce = 20;

export async function readReceipts(
  platform: TestPlatform,
  history: readonly Command[],
): Promise<ReadonlyMap<string, Receipt>> {
  const receipts = new Map<string, Receipt>();
  for (let at = 0; at < history.length; at += receiptsAtOnce) {
    const some = history.slice(at, at + receiptsAtOnce);
    const fields = some.map(
      ({ operation, key }, index) =>
        `r${index}: mutationReceipt(operation: ${mutationName(operation)}, idempotencyKey: "${key}") { outcome }`,
    );
    const answers = await ask(platform, `{ ${fields.join(' ')} }`);
    for (const [index, { key }] of some.entries()) receipts.set(key, answers[`r${index}`]);
  }
  return receipts;
}
