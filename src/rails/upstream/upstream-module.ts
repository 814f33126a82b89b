import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { KycStatus } from '../../database/generated/client/client.ts';
import type { IdentityRequest } from '../identity-request.ts';
import type { RailHost, RailModule } from '../port.ts';
import type { Rail } from '../rail.ts';
import { UpstreamAccounts } from './upstream-accounts.ts';
import { UpstreamClient, type UpstreamConnection } from './upstream-client.ts';
import { readMovements } from './upstream-movements.ts';
import { UpstreamOrders } from './upstream-orders.ts';
import { lockRate } from './upstream-quotes.ts';
import { readTerms } from './upstream-rates.ts';
import { customerRecord } from './upstream-records.ts';

const milliseconds = (max: number) =>
  z
    .int({ error: `must be a whole number from 1 to ${max}` })
    .min(1)
    .max(max);

const settingsSchema = z
  .strictObject({
    pollMs: milliseconds(3_600_000).default(1_000),
    watchMs: milliseconds(86_400_000).default(86_400_000),
    expectedMs: milliseconds(86_400_000).default(5_000),
    lockQuotes: z.boolean({ error: 'must be true or false' }).default(true),
  })
  .prefault({});

type UpstreamSettings = z.infer<typeof settingsSchema>;

const connectionSchema = z.object({ baseUrl: z.string(), clientId: z.string().min(1), secret: z.string().min(1) });

/**
 * Reads a connection to an upstream service as it is stored.
 * @throws RangeError that says what is wrong with it; no secret is in the message
 */
export function parseConnection(text: string): UpstreamConnection {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RangeError('the connection must be JSON with baseUrl, clientId and secret');
  }
  const parsed = connectionSchema.safeParse(value);
  if (!parsed.success) throw new RangeError('the connection must have baseUrl, clientId and secret, all of them texts');
  const { baseUrl } = parsed.data;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isLocal = url !== undefined && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw new RangeError('baseUrl must be an https address, or an http address of this machine');
  }
  return parsed.data;
}

/** The module of the rail whose provider is another service of the specified REST interface (docs/rails.md). */
export const upstreamModule: RailModule = {
  railPort: 1,
  name: 'upstream',
  open(given, { connections }) {
    const settings = settingsSchema.safeParse(given);
    if (!settings.success) {
      throw new RangeError(settings.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; '));
    }
    const opened = new LRUCache<string, Rail>({ max: 10_000 });
    const clients = new Set<UpstreamClient>();
    return {
      name: 'upstream',
      forPlatform(platformId) {
        const known = opened.get(platformId);
        if (known) return known;
        const client = new UpstreamClient(() => connectionOf(connections, platformId));
        clients.add(client);
        const rail = platformRail(client, settings.data);
        opened.set(platformId, rail);
        return rail;
      },
      async close() {
        await Promise.all([...clients].map((client) => client.close()));
      },
    };
  },
};

async function connectionOf(connections: RailHost['connections'], platformId: string): Promise<UpstreamConnection> {
  const stored = await connections.read(platformId);
  if (stored === undefined) throw new Error('the platform is not connected: npm run ops -- rails connect');
  return parseConnection(stored);
}

function platformRail(client: UpstreamClient, settings: UpstreamSettings): Rail {
  const accounts = new UpstreamAccounts(client);
  const orders = new UpstreamOrders(client, accounts, settings);
  return {
    name: 'upstream',
    rate: (sending, receiving) => readTerms(client, sending, receiving),
    ...(settings.lockQuotes && { lockRate: (request) => lockRate(client, accounts, request) }),
    checkAccount: (account) => accounts.check(account),
    checkIdentity: (customer) => checkIdentity(client, customer),
    payOut: (order) => orders.payOut(order),
    collect: (order) => orders.collect(order),
    findOrder: (order) => orders.find(order),
    giveBack: (order) => orders.giveBack(order),
    expectedMs: () => settings.expectedMs,
    movements: (request) => readMovements(client, request),
    balances: () => accounts.balances(),
    async checkConnection() {
      const held = [...(await accounts.balances())].map(([code, units]) => `${code} ${units}`);
      return `the platform holds upstream, in smallest units: ${held.join(', ')}`;
    },
  };
}

/** Has upstream check the identity of a customer: it gets a customer of the same name there, anew for each name. */
async function checkIdentity(client: UpstreamClient, customer: IdentityRequest): Promise<KycStatus> {
  const { customerId, customerType, name } = customer;
  const version = hash('sha256', name ?? '').slice(0, 8);
  const body = {
    platformCustomerId: `${customerId}-${version}`,
    customerType,
    ...(customerType === 'INDIVIDUAL'
      ? name !== null && { fullName: name }
      : { businessInfo: { legalName: name ?? '' } }),
  };
  const { kycStatus } = await client.post('/customers', customerRecord, {
    body,
    key: `customer-${customerId}-${version}`,
  });
  const status = kycStatuses.find((known) => known === kycStatus);
  return status ?? 'PENDING_REVIEW';
}

const kycStatuses: readonly KycStatus[] = [
  ...(['APPROVED', 'REJECTED', 'PENDING_REVIEW', 'EXPIRED', 'CANCELED'] as const),
  ...(['MANUALLY_APPROVED', 'MANUALLY_REJECTED'] as const),
];
