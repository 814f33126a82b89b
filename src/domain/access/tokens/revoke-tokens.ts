import { publicId, uuidOf } from '../../../core/ids.ts';
import { checkVersion, type Expecting, Refusal } from '../../../core/refusal.ts';
import { trustedJson } from '../../../infra/database/rows.ts';
import { statement } from '../../../infra/database/statement.ts';
import { readClock } from '../../../infra/database/transaction.ts';
import { dropPending } from '../drop-pending.ts';
import { recordCommand } from '../run-idempotent.ts';
import { forCaller, visibleRow, visibleToPlatform } from '../visible.ts';
import { lockTokens } from './token-bounds.ts';

export interface RevokeApiToken extends Expecting {
  readonly tokenId: string;
  readonly revokeDescendants: boolean;
}

export type Ended = Readonly<Record<'endedApiTokens' | 'endedClientTokens' | 'disabledEndpoints', number>>;

/**
 * Revokes an API token. If requested, also revokes its descendants and disables the webhook endpoints of all these
 * tokens (pending deliveries are abandoned afterwards). An already revoked token may still have active descendants,
 * because it may have been revoked without them. Client tokens are locked in id order, as they are when a customer is
 * deleted. Rows to update are found by a list of keys: with a join, Postgres might read the whole table.
 */
const revokeStatement = forCaller(
  statement<
    Omit<Ended, 'disabledEndpoints'> &
      Record<'isKnown' | 'wasValid' | 'isLastManager', boolean> & { endpoints: string[] }
  >(
    'revoke_api_token',
    `with recursive family as (
       select t.id from api_token t where ${visibleRow('ofPlatform', 't')} and t.id = $4
       union
       select t.id from family f join api_token t on t.platform_id = $1 and f.id in (t.created_by_id, t.replaces_id) where $5::boolean
     ), ended as (
       update api_token set revoked_at = clock_ms()
       where platform_id = $1 and id = any (array(select id from family)) and revoked_at is null
       returning id, permissions
     ), living_app as (
       select c.id from client_token c
       where c.platform_id = $1 and c.created_by_id in (select id from family) and $5
         and c.revoked_at is null and c.expires_at > statement_timestamp()
       order by c.id for no key update
     ), ended_app as (
       update client_token set revoked_at = clock_ms()
       where platform_id = $1 and id = any (array(select id from living_app))
       returning id
     ), disabled as (
       update webhook_endpoint set status = 'DISABLED', disabled_at = clock_ms(), notice = 'Disabled with the token that made it.'
       where platform_id = $1 and token_id in (select id from family) and $5 and status <> 'DISABLED'
       returning id
     )
     select exists (select from family) as is_known, exists (select from ended where id = $4) as was_valid,
       (select count(*)::int from ended where id <> $4) as ended_api_tokens,
       (select count(*)::int from ended_app) as ended_client_tokens,
       array(select id from disabled)::text[] as endpoints,
       exists (select from ended where 'MANAGE' = any (permissions)) and not exists (
         select from api_token t
         where t.platform_id = $1 and t.revoked_at is null and coalesce(t.expires_at > clock_timestamp(), true)
           and 'MANAGE' = any (t.permissions)
           and t.id not in (select id from ended)
       ) as is_last_manager`,
  ),
);

/**
 * Revokes a server's token and, if requested, everything that it created. Within seconds, requests with these tokens
 * are rejected, and their open connections are closed. Revoking a token again is not an error.
 * @throws Refusal TOKEN_NOT_FOUND, CONFLICT (no token with MANAGE would be left)
 */
export const revokeApiToken = recordCommand((_database, caller, input: RevokeApiToken) => ({
  operation: 'revokeApiToken',
  effect: async ({ client }) => {
    const { platformId } = caller;
    const id = tokenUuid(input.tokenId, 'ApiToken');
    await lockTokens(client, platformId);
    const [revoked] = await revokeStatement(client, caller, id, input.revokeDescendants);
    if (!revoked?.isKnown) throw tokenNotFound();
    const { wasValid, isLastManager, endedApiTokens, endedClientTokens, endpoints } = revoked;
    checkVersion(input, publicId('ApiToken', id), tokenVersion(!wasValid));
    if (isLastManager) {
      const message =
        input.revokeDescendants && endedApiTokens > 0
          ? 'the platform would have no token with MANAGE left: create another one first, or keep the tokens that this one created'
          : "this is the platform's last token with MANAGE: create another one first";
      throw new Refusal('CONFLICT', message, ['tokenId']);
    }
    for (const endpointId of endpoints) await dropPending(client, platformId, endpointId);
    const ended: Ended = { endedApiTokens, endedClientTokens, disabledEndpoints: endpoints.length };
    const row = { platform_id: platformId, id };
    return { result: { type: 'ApiToken', row, ...ended }, answer: { revokedId: input.tokenId, ...ended } };
  },
  repeat: async ({ type, row, ...ended }) => ({ revokedId: input.tokenId, ...trustedJson<Ended>(ended) }),
}));

/** Revokes an app's token. Unlike API tokens, it has no descendants. @throws Refusal TOKEN_NOT_FOUND */
export const revokeClientToken = recordCommand(
  (_database, caller, input: { readonly tokenId: string } & Expecting) => ({
    operation: 'revokeClientToken',
    effect: async ({ client, prisma }) => {
      const id = tokenUuid(input.tokenId, 'ClientToken');
      const { now: revokedAt } = await readClock(client);
      const token = { AND: [visibleToPlatform(caller), { id }] };
      const live = { ...token, revokedAt: null };
      const { count } = await prisma.clientToken.updateMany({ where: live, data: { revokedAt } });
      if (count === 0 && (await prisma.clientToken.count({ where: token })) === 0) throw tokenNotFound();
      checkVersion(input, publicId('ClientToken', id), tokenVersion(count === 0));
      const row = { platform_id: caller.platformId, id };
      return { result: { type: 'ClientToken', row }, answer: { revokedId: input.tokenId } };
    },
    repeat: async () => ({ revokedId: input.tokenId }),
  }),
);

/** Returns a token's version. A token changes only once: when it is revoked. */
export function tokenVersion(isRevoked: boolean): number {
  return isRevoked ? 2 : 1;
}

function tokenUuid(tokenId: string, type: 'ApiToken' | 'ClientToken'): string {
  const id = uuidOf(tokenId, type);
  if (id === undefined) throw tokenNotFound();
  return id;
}

function tokenNotFound(): Refusal {
  return new Refusal('TOKEN_NOT_FOUND', 'no such token', ['tokenId']);
}
