import type { Operation } from '../../../src/domain/access/operations.ts';
import { between } from '../../setup/acts.ts';
import { connect, type TestGateway, type TestPlatform, testGateway, uuidIn } from '../../setup/gateway.ts';
import { restClient } from '../../setup/rest.ts';
import { countedGateway } from '../../setup/statements.ts';
import { quiet } from '../../setup/streams.ts';
import { answer, testReceiver } from '../../webhooks/receiver.ts';
import { unlimited } from '../limits.ts';
import { calls } from './graphql-calls.ts';
import { type Kind, kinds, makeThings, type Things } from './things.ts';

/** A caller that may not see the victim's objects. */
export interface Stranger {
  readonly name: string;
  readonly platform: TestPlatform;
  /** The caller's own objects. */
  readonly own: Things;
  /** Whether the caller belongs to the victim's platform and therefore sees its feed. */
  readonly isOfPlatform: boolean;
}

/** Credentials that are invalid or lack permissions. */
interface Weak {
  readonly name: string;
  readonly platform: TestPlatform;
  readonly permissions: readonly ('VIEW' | 'TRANSACT' | 'APPROVE' | 'MANAGE')[];
}

/** Two platforms, a victim on one of them, and all callers to whom the victim must look as if it had never existed. */
export type MatrixWorld = Awaited<ReturnType<typeof openMatrix>>;

/** Settings under which nothing changes on its own while the matrix runs. */
const still = { SANDBOX_PACE_MS: 600_000, PAYMENT_APPROVAL_MS: 60_000 } as const;

export async function openMatrix() {
  // The receivers respond with 202, so that the matrix itself can approve payments.
  const receivers = [await testReceiver(answer(202)), await testReceiver(answer(202))] as const;
  const t = await testGateway({ ...still, ...unlimited });
  const counting = await countedGateway(t, unlimited);
  const owner = t.platform;
  const other = await t.newPlatform('stranger');
  const victim = await makeThings(owner, `${receivers[0].url}/victim`);
  const bystander = await makeThings(owner, `${receivers[0].url}/bystander`);
  const stranger = await makeThings(other, `${receivers[1].url}/stranger`);
  const granted = await makeThings(owner, `${receivers[0].url}/granted`);
  const spent = await makeThings(owner, `${receivers[0].url}/spent`);
  const usedKeys = await useKeys(owner, spent);
  const asSeen = ({ platformId, authorization }: TestPlatform) => connect(counting.url, platformId, authorization);
  const app = (bound: object) => owner.at(counting.url).payingApp(bound);
  // Another of the victim's payments, to which an app is bound. The app sees the ids of this payment's accounts, so the
  // payment uses accounts that the matrix does not name.
  const source = { realtimeFunding: { customerId: victim.Customer, currency: 'USDC' } };
  const sibling = await owner.quote(between('', victim.outsideEur, 12_340_000, { source }));
  const bystanders = { own: bystander, isOfPlatform: true };
  const strangers: Stranger[] = [
    { name: 'another platform', platform: asSeen(other), own: stranger, isOfPlatform: false },
    { name: 'another customer', platform: await app({ customerId: bystander.Customer }), ...bystanders },
    {
      name: 'another customer with every grant',
      platform: await app({ customerId: granted.Customer, grants: ['LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES'] }),
      own: granted,
      isOfPlatform: true,
    },
    { name: 'another quote', platform: await app({ quoteId: bystander.Quote }), ...bystanders },
    { name: 'another transaction', platform: await app({ transactionId: bystander.Transaction }), ...bystanders },
    {
      name: 'another payment of the same customer',
      platform: await app({ quoteId: sibling.id }),
      own: { ...bystander, Quote: sibling.id, Transaction: sibling.transaction.id },
      isOfPlatform: true,
    },
  ];
  const third = await t.newPlatform('third');
  const restStranger: Stranger = {
    name: 'another platform',
    platform: asSeen(third),
    own: await makeThings(third, `${receivers[1].url}/third`),
    isOfPlatform: false,
  };
  const rest = await restClient(t.url, third.authorization);
  await rest.ask('PATCH', '/config', { webhookEndpoint: `${receivers[1].url}/config` });
  await quiet(t);
  return {
    t,
    /** This gateway serves only the matrix's requests, so that all its statements belong to them. */
    counting,
    victim,
    /** Another customer of the victim's platform. */
    bystander,
    /** A third platform, which has used no keys and changed nothing over GraphQL. */
    restStranger,
    owner: counting.platform,
    strangers,
    weak: await weakTokens(owner, counting.url),
    /** Revoked, expired and missing credentials. */
    ended: await endedTokens(t, counting.url, victim),
    /** For each operation, a key that the victim's platform has used for it. */
    usedKeys,
    /** The webhook receivers of the victim's platform and of the other platform. */
    receivers,
  };
}

async function useKeys(platform: TestPlatform, things: Things): Promise<Record<string, string>> {
  const used: Record<string, string> = {};
  for (const { kind, field, bases } of calls) {
    if (kind !== 'mutation') continue;
    const [base] = bases;
    // An approved payment cannot be rejected, and a customer who still holds money cannot be deleted. These refusals
    // are stored under their keys just as successes are.
    const input = base?.(things).input as object;
    const key = `used-${field}`;
    const result = await platform.act(field as Operation, { ...input, idempotencyKey: key });
    if (result.code && !['rejectTransaction', 'deleteCustomer'].includes(field))
      throw new Error(`${field}: ${result.code}: ${result.message}`);
    used[field] = key;
  }
  return used;
}

async function weakTokens(platform: TestPlatform, url: string): Promise<Weak[]> {
  const each = [['VIEW'], ['TRANSACT'], ['APPROVE'], ['MANAGE']] as const;
  return Promise.all(
    each.map(async (permissions) => ({
      name: `${permissions.join(' ')} only`,
      platform: await platform.at(url).serverOf(...permissions),
      permissions,
    })),
  );
}

async function endedTokens(
  { platform, owner }: TestGateway,
  url: string,
  { Customer }: Things,
): Promise<Pick<Weak, 'name' | 'platform'>[]> {
  const revoked = await platform.at(url).serverOf('VIEW', 'TRANSACT', 'MANAGE');
  await platform.succeed('revokeApiToken', { tokenId: revoked.tokenId, revokeDescendants: true });
  const app = (rest?: object) => platform.at(url).payingApp({ customerId: Customer, ...rest });
  const [revokedApp, expiredApp, brief] = [await app(), await app(), await app({ expiresInSeconds: 1 })];
  await platform.succeed('revokeClientToken', { tokenId: revokedApp.tokenId });
  // The database's clock decides whether a token has expired.
  await owner.query(
    `update client_token set created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day' where id = $1`,
    [uuidIn(expiredApp.tokenId)],
  );
  // Waits until this token, which is valid for one second, has expired.
  while ((await brief.send('{ __typename }')).status !== 401) await new Promise(setImmediate);
  return [
    { name: 'a revoked API token', platform: revoked },
    { name: 'a revoked client token', platform: revokedApp },
    { name: 'a client token that has expired only in the database', platform: expiredApp },
    { name: 'an expired client token', platform: brief },
    { name: 'nobody', platform: connect(url, '', '') },
  ];
}

/** Returns strings that occur only in the victim's values. No response to a stranger may contain any of them. */
export function secretsOf(things: Things): readonly string[] {
  const open: ReadonlySet<Kind> = new Set(['url', 'cursor:ApiToken', 'cursor:WebhookEndpoint']);
  return kinds.filter((kind) => !open.has(kind)).map((kind) => things[kind].slice(things[kind].indexOf(':') + 1));
}
