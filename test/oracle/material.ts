import { cursors } from '../setup/cursors.ts';
import type { Data, TestPlatform } from '../setup/gateway.ts';

/** One platform's ids, cursors and other values for use in documents. Most of them come from the service itself. */
export interface Material {
  /** Public ids by type. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  /** Cursors by the type of their list's rows. */
  readonly cursors: Readonly<Record<string, readonly string[]>>;
  readonly umaAddresses: readonly string[];
  readonly platformCustomerIds: readonly string[];
  readonly references: readonly string[];
  readonly names: readonly string[];
  /** Times at which objects were created or changed. */
  readonly moments: readonly string[];
  readonly keys: readonly (readonly [operation: string, key: string])[];
}

const lists: Readonly<Record<string, readonly [field: string, selection: string]>> = {
  Transaction: ['transactions', 'id createdAt updatedAt reconciliationReference'],
  Quote: ['quotes', 'id createdAt'],
  Customer: ['customers', 'id createdAt updatedAt umaAddress platformCustomerId name'],
  Account: [
    'accounts',
    'id createdAt ... on InternalAccount { ledgerEntries(first: 5) { edges { cursor node { occurredAt } } } }',
  ],
  Event: ['events', 'id'],
  ApiToken: ['apiTokens', 'id'],
  ClientToken: ['clientTokens', 'id'],
  WebhookEndpoint: ['webhookEndpoints', 'id deliveries { edges { cursor node { id } } }'],
};

/** Reads all of a platform's lists, page by page. No list contains lookups, so their ids are passed in. */
export async function readMaterial(
  platform: TestPlatform,
  keys: Material['keys'],
  lookups: readonly string[],
): Promise<Material> {
  const { platform: own, customers } = await platform.ask(
    '{ platform { policy { id } } customers(first: 100) { edges { node { policy { id } } } } }',
  );
  const limited = [own, ...customers.edges.map(({ node }: Data) => node)];
  const ids: Record<string, string[]> = {
    ...{ Platform: [`Platform:${platform.platformId}`], Lookup: [...lookups] },
    Policy: limited.flatMap(({ policy }) => policy?.id ?? []),
  };
  const found: Record<string, string[]> = { WebhookDelivery: [], LedgerEntry: [] };
  const nodes: Data[] = [];
  for (const [type, [field, selection]] of Object.entries(lists)) {
    const ofType: string[] = [];
    found[type] = ofType;
    const filter = type === 'Customer' ? ', filter: { isIncludingDeleted: true }' : '';
    for (let after: string | null = null; after !== undefined; ) {
      const answered: Data = await platform.ask(
        `query ($after: String) { page: ${field}(first: 50, after: $after${filter}) { edges { cursor node { ${selection} } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
      const { edges, pageInfo } = answered.page;
      for (const { cursor, node } of edges) {
        ofType.push(cursor);
        if (node.updatedAt && ofType.length % 3 === 0) ofType.push(changeCursor(type, platform.platformId, node));
        nodes.push(node);
        const [idType = ''] = node.id.split(':');
        ids[idType] = [...(ids[idType] ?? []), node.id];
        for (const edge of node.ledgerEntries?.edges ?? []) found.LedgerEntry?.push(edge.cursor);
        for (const edge of node.deliveries?.edges ?? []) {
          found.WebhookDelivery?.push(edge.cursor);
          ids.WebhookDelivery = [...(ids.WebhookDelivery ?? []), edge.node.id];
        }
      }
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
  }
  const of = (name: string): string[] => [...new Set(nodes.map((node) => node[name]).filter(Boolean))];
  return {
    ids,
    cursors: found,
    umaAddresses: [...of('umaAddress'), '$success.usd@sandbox.uma.money'],
    platformCustomerIds: of('platformCustomerId'),
    references: of('reconciliationReference'),
    names: [...of('name'), 'A'],
    moments: [...of('createdAt'), ...of('updatedAt')],
    keys,
  };
}

/** Returns a row's cursor in a list ordered by the time of the last change. */
function changeCursor(list: string, platformId: string, { id, updatedAt }: Data): string {
  return cursors.write(list, platformId, `${Date.parse(updatedAt)}:${id.split(':')[1]}`);
}
