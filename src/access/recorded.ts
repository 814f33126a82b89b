import type { Database } from '../database/database.ts';
import { sqlState } from '../database/retry.ts';
import { type Queryable, statement } from '../database/statement.ts';
import { claimOf, type Tenant } from '../payments/command.ts';
import { Refusal } from '../payments/refusal.ts';

const claimStatement = statement<object>(
  'claim_key',
  `insert into idempotency_record (platform_id, operation, key, request_hash) values ($1, $2, $3, decode($4, 'hex'))
   on conflict do nothing returning key`,
);

const firstStatement = statement<{ same: boolean; id: string }>(
  'first_with_key',
  `select request_hash = decode($4, 'hex') as same, result #>> '{row,id}' as id from idempotency_record
   where platform_id = $1 and operation = $2 and key = $3`,
);

const outcomeStatement = statement<object>(
  'outcome_of_key',
  `update idempotency_record set result = jsonb_build_object('type', $4::text, 'row', jsonb_build_object('id', $5::text))
   where platform_id = $1 and operation = $2 and key = $3`,
);

/**
 * Carries out a change of records that are not money, once per idempotency key: the change and its record are one
 * transaction. Only the id of what was made or changed is kept, so that no secret ever is.
 * @throws Refusal IDEMPOTENCY_MISMATCH, INVALID_INPUT (what is not a key), and what `change` throws
 */
export async function recorded(
  database: Database,
  tenant: Tenant,
  command: {
    readonly operation: string;
    readonly type: 'ApiToken' | 'ClientToken';
    readonly input: object;
    readonly idempotencyKey: string | null | undefined;
  },
  change: (on: Queryable) => Promise<string>,
): Promise<{ readonly id: string; readonly replayed: boolean }> {
  const claim = claimOf(tenant, command);
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    if (claim) {
      const key = [tenant.platformId, claim.operation, claim.key] as const;
      if ((await claimStatement(client, ...key, claim.hash)).length === 0) {
        const [first] = await firstStatement(client, ...key, claim.hash);
        await client.query('rollback');
        if (!first?.same) {
          throw new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was used before with another input', {
            field: 'idempotencyKey',
          });
        }
        return { id: first.id, replayed: true };
      }
    }
    const id = await change(client);
    if (claim) await outcomeStatement(client, tenant.platformId, claim.operation, claim.key, command.type, id);
    await client.query('commit');
    return { id, replayed: false };
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    if (sqlState(error) !== '55P03') throw error;
    throw new Refusal('CONFLICT', 'the first request with this idempotency key is still running', {
      field: 'idempotencyKey',
      retryAfter: 1,
    });
  } finally {
    client.release();
  }
}
