import { LRUCache } from 'lru-cache';
import type { Prisma, PrismaClient } from '../../src/infra/database/generated/client/client.ts';

/**
 * The oracle's reads: plain calls of Prisma's client, whole rows of one table at a time. Nothing changes while it reads, so
 * every read is cached.
 */
export class PlainReads {
  readonly #prisma: PrismaClient;
  readonly #known = new LRUCache<string, Promise<unknown>>({ max: 20_000 });

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma;
  }

  #once<Rows>(table: string, where: object, read: () => Promise<Rows>): Promise<Rows> {
    const key = `${table} ${JSON.stringify(where, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))}`;
    const known = this.#known.get(key) ?? read();
    this.#known.set(key, known);
    // What is known under a key was read by the same function.
    return known as Promise<Rows>;
  }

  /** Each list is in the order of its ids, oldest first. */
  transactions(where: Prisma.TransactionWhereInput) {
    const read = () => this.#prisma.transaction.findMany({ where, orderBy: { id: 'asc' } });
    return this.#once('transaction', where, read);
  }

  quotes(where: Prisma.QuoteWhereInput) {
    return this.#once('quote', where, () => this.#prisma.quote.findMany({ where, orderBy: { id: 'asc' } }));
  }

  customers(where: Prisma.CustomerWhereInput) {
    return this.#once('customer', where, () => this.#prisma.customer.findMany({ where, orderBy: { id: 'asc' } }));
  }

  accounts(where: Prisma.AccountWhereInput) {
    return this.#once('account', where, () => this.#prisma.account.findMany({ where, orderBy: { id: 'asc' } }));
  }

  lookups(where: Prisma.LookupWhereInput) {
    return this.#once('lookup', where, () => this.#prisma.lookup.findMany({ where, orderBy: { id: 'asc' } }));
  }

  apiTokens(where: Prisma.ApiTokenWhereInput) {
    return this.#once('token', where, () => this.#prisma.apiToken.findMany({ where, orderBy: { id: 'asc' } }));
  }

  clientTokens(where: Prisma.ClientTokenWhereInput) {
    return this.#once('app', where, () => this.#prisma.clientToken.findMany({ where, orderBy: { id: 'asc' } }));
  }

  endpoints(where: Prisma.WebhookEndpointWhereInput) {
    const read = () => this.#prisma.webhookEndpoint.findMany({ where, orderBy: { id: 'asc' } });
    return this.#once('endpoint', where, read);
  }

  deliveries(where: Prisma.WebhookDeliveryWhereInput) {
    const read = () => this.#prisma.webhookDelivery.findMany({ where, orderBy: { id: 'asc' } });
    return this.#once('delivery', where, read);
  }

  attempts(where: Prisma.WebhookAttemptWhereInput) {
    const read = () => this.#prisma.webhookAttempt.findMany({ where, orderBy: { number: 'asc' } });
    return this.#once('attempt', where, read);
  }

  events(where: Prisma.EventWhereInput & { sequence?: bigint }) {
    const { sequence, ...rest } = where;
    const read = () => this.#prisma.event.findMany({ where, orderBy: { sequence: 'asc' } });
    return this.#once('event', { ...rest, sequence: String(sequence) }, read);
  }

  journals(where: Prisma.JournalWhereInput) {
    return this.#once('journal', where, () => this.#prisma.journal.findMany({ where, orderBy: { id: 'asc' } }));
  }

  postings(where: Prisma.PostingWhereInput) {
    return this.#once('posting', where, () => this.#prisma.posting.findMany({ where, orderBy: { leg: 'asc' } }));
  }

  /** In the order of the account's versions. */
  postingsOn(where: Prisma.PostingWhereInput) {
    const read = () => this.#prisma.posting.findMany({ where, orderBy: { accountVersion: 'asc' } });
    return this.#once('posting of account', where, read);
  }

  policies(where: Prisma.PolicyWhereInput) {
    return this.#once('policy', where, () => this.#prisma.policy.findMany({ where, orderBy: { id: 'asc' } }));
  }

  policyUses(where: Prisma.PolicyUseWhereInput) {
    return this.#once('use', where, () => this.#prisma.policyUse.findMany({ where, orderBy: { usedAt: 'asc' } }));
  }

  platforms(where: Prisma.PlatformWhereInput) {
    return this.#once('platform', where, () => this.#prisma.platform.findMany({ where }));
  }

  feedHeads(where: Prisma.FeedHeadWhereInput) {
    return this.#once('head', where, () => this.#prisma.feedHead.findMany({ where }));
  }

  records(where: Prisma.IdempotencyRecordWhereInput) {
    return this.#once('record', where, () => this.#prisma.idempotencyRecord.findMany({ where }));
  }
}
