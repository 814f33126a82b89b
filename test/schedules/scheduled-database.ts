import pg from 'pg';

/**
 * A database whose statements can be stopped inside the product's functions, and whose clock a test can advance. The
 * bodies of the functions are unchanged: the schema `schedules` contains functions with the same names, which call the
 * real functions and then stop the actor. Only connections with `schedules` first in their search path use them.
 */

/** The points at which an actor stops while its transaction is open. */
const points: readonly { readonly of: string; readonly after: string }[] = [
  { of: 'lock_plans(jsonb)', after: 'locked' },
  { of: 'check_group(jsonb, jsonb)', after: 'checked' },
  { of: 'apply_plans(jsonb)', after: 'applied' },
  { of: 'lease_rail_orders(integer, bigint)', after: 'leased' },
  { of: 'sequence_outbox(integer)', after: 'sequenced' },
];

export const stopNotice = /^stopped (\d+) at (\w+)$/;

/**
 * An actor stops by waiting for an advisory lock that the scheduler holds. Each actor has two such locks, and uses them
 * in turn.
 */
export const actorLock = (actor: number, stop: number) => `${1_000 + actor}, ${stop % 2}`;

const schema = `
  create schema schedules;
  -- In the other schemas, PUBLIC may not execute functions created by this owner.
  alter default privileges in schema schedules grant execute on functions to public;
  create table schedules.clock (ahead interval not null);
  insert into schedules.clock values ('0');
  create function schedules.clock_timestamp() returns timestamptz language sql volatile as
    $$ select pg_catalog.clock_timestamp() + (select ahead from schedules.clock) $$;

  create function schedules.stop_at(p_point text) returns void language plpgsql as $$
  declare
    v_actor int := nullif(current_setting('schedules.actor', true), '');
    v_stop bigint;
  begin
    if v_actor is null then
      return;
    end if;
    -- Uses a sequence, because its numbers are not reused after a rollback.
    v_stop := nextval('schedules.stop_' || v_actor);
    raise notice 'stopped % at %', v_stop, p_point;
    perform pg_advisory_lock(1000 + v_actor, (v_stop % 2)::int);
    perform pg_advisory_unlock(1000 + v_actor, (v_stop % 2)::int);
  end
  $$;`;

export async function prepareDatabase(client: pg.Client, actors: number): Promise<void> {
  await client.query(schema);
  for (let actor = 1; actor <= actors; actor += 1) await client.query(`create sequence schedules.stop_${actor}`);
  // A function with its own search path would not find the replacements in the schema `schedules`.
  await client.query(`do $$ declare v_function regprocedure; begin
    for v_function in select oid from pg_proc
      where pronamespace = 'public'::regnamespace and array_to_string(proconfig, ' ') like '%search_path%'
    loop execute format('alter function %s reset search_path', v_function); end loop; end $$`);
  for (const { of, after } of points) await client.query(await stoppingFunction(client, of, after));
  await client.query(`grant usage on schema schedules to gateway_work;
    grant select, update on all tables in schema schedules to gateway_work;
    grant usage on all sequences in schema schedules to gateway_work`);
}

/** Returns a statement that creates a function which calls the real function and then stops the actor. */
async function stoppingFunction(client: pg.Client, signature: string, point: string): Promise<string> {
  const { rows } = await client.query<{ parameters: string; result: string; names: string[] | null; table: boolean }>(
    `select pg_get_function_arguments($1::regprocedure) as parameters, pg_get_function_result($1::regprocedure) as result,
       proargnames[1:pronargs] as names, proretset as table
     from pg_proc where oid = $1::regprocedure`,
    [signature],
  );
  const [found] = rows;
  if (!found) throw new Error(`${signature} is missing`);
  const name = signature.slice(0, signature.indexOf('('));
  const call = `public.${name}(${found.names?.join(', ')})`;
  const isVoid = found.result === 'void';
  const body = found.table
    ? `return query select * from ${call}; perform schedules.stop_at('${point}');`
    : isVoid
      ? `perform ${call}; perform schedules.stop_at('${point}');`
      : `v_result := ${call}; perform schedules.stop_at('${point}'); return v_result;`;
  const declared = found.table || isVoid ? '' : `declare v_result ${found.result};`;
  return `create function schedules.${name}(${found.parameters}) returns ${found.result} language plpgsql
    as $$ #variable_conflict use_column\n ${declared} begin ${body} end $$`;
}

export async function connectOwner(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=schedules,public,pg_catalog' });
  await client.connect();
  return client;
}

/** Actor 0 prepares schedules. */
export function connectionOf(url: string, actor: number) {
  const settings = [
    'search_path=schedules,public,pg_catalog',
    // The timeouts are long because an actor waits while the scheduler lets others run.
    'lock_timeout=60000',
    'statement_timeout=60000',
    ...(actor > 0 ? [`schedules.actor=${actor}`] : []),
  ];
  return { url, role: 'gateway_work', settings } as const;
}

export function actorOf(client: pg.ClientBase): number | undefined {
  const { options } = (client as pg.Client & { connectionParameters: { options?: string } }).connectionParameters;
  const [, actor] = /schedules\.actor=(\d+)/.exec(options ?? '') ?? [];
  return actor === undefined ? undefined : Number(actor);
}
