import type { Database } from '../../../infra/database/database.ts';
import { statement } from '../../../infra/database/statement.ts';

const warnStatement = statement<object>(
  'warn_of_expiry',
  `with warned as (
     update api_token set warned_at = clock_ms() where (platform_id, id) in (
       select platform_id, id from api_token
       where expires_at between clock_timestamp() and clock_timestamp() + interval '7 days' and warned_at is null and revoked_at is null
       order by expires_at limit $1 for update skip locked
     ) returning platform_id, id, expires_at
   )
   insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
   select platform_id, uuid_v7(), 'API_TOKEN_EXPIRY', clock_ms(), 1, jsonb_build_object('token_id', id, 'expires_at', expires_at)
   from warned returning 1`,
);

/**
 * Announces that tokens expire within a week: once for each token, and for at most `limit` tokens per call.
 * @returns the number of tokens announced
 */
export async function warnOfExpiry({ pool }: Database, limit: number): Promise<number> {
  return (await warnStatement(pool, limit)).length;
}
