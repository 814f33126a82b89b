import type { Cursors } from '../../../core/cursors.ts';
import { publicId } from '../../../core/ids.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { seesAny } from '../../../domain/access/visible.ts';
import { feedPosition } from '../../../domain/events/cursor.ts';
import { eventsOfNoun, type FollowedNoun, hasPosition, nounOf } from '../../../domain/events/reads.ts';
import { tableOf } from '../../../infra/database/conditions.ts';
import type { Event as EventRow } from '../../../infra/database/generated/client/client.ts';
import { fieldsOf, rowFromFields, rowFromSnapshot, type SnapshotRows } from '../../../infra/database/rows.ts';
import { type RelatedFields, relatedFields, relatedRows, webhookText } from '../../webhooks/delivery/bodies.ts';
import { webhookTypesSql } from '../../webhooks/webhooks.ts';
import { cursorUndone } from '../failure.ts';
import type { CursorArgument } from '../paging.ts';
import { computedPlaceholder } from './finish.ts';
import { type MadeRead, rowThere } from './kinds.ts';
import { byNumber, type Env, type KeyRun, type PageKey, type Read } from './reads.ts';
import { literal, type Sql, sql } from './sql.ts';

type Changed = FollowedNoun | 'WebhookDelivery';

/** Returns the model of the row that an event is about. The event contains a snapshot of this row. */
export function modelOfEvent(event: EventRow): Changed | undefined {
  return nounOf(event) ?? (event.type === 'WEBHOOK_DELIVERY' ? 'WebhookDelivery' : undefined);
}

/** Returns the changed row as it was after the change, or null if the event is not about a row of the given model. */
export function snapshotOf<M extends keyof SnapshotRows>(event: EventRow, model: M): SnapshotRows[M] | null {
  return modelOfEvent(event) === model ? rowFromSnapshot(model, event.snapshot) : null;
}

/** Returns the name of the GraphQL type that a row of a model belongs to. */
export function typeNameOf(model: string, row: object): string {
  if (model !== 'Account') return model;
  return 'kind' in row && row.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount';
}

/** Returns the public id of the API token that, according to an event, expires soon; null for other events. */
export function expiringTokenOf({ type, snapshot }: Pick<EventRow, 'type' | 'snapshot'>): string | null {
  return type === 'API_TOKEN_EXPIRY' ? publicId('ApiToken', String(Object(snapshot).token_id)) : null;
}

/** Defines how the feed is read: ordered by sequence number, with each changed row as it was after the change. */

export const feedOrder: PageKey = {
  ...byNumber('sequence', { of: sequenceIn, sortOrder: 'ASC' }),
  text: (row) => `${row}.sequence || coalesce(':' || ${row}.epoch, '')`,
  textOf: ({ sequence, epoch }) => (epoch === null ? String(sequence) : `${sequence}:${epoch}`),
};

/** Returns a position's sequence number. Refuses a position undone by a restore: a page after it would skip events. */
function sequenceIn(text: string, run: KeyRun, argument: CursorArgument): bigint {
  const position = feedPosition(text);
  run.require({
    key: text,
    holds: (on) => hasPosition(on, run.viewer.platformId, position),
    refusal: () => cursorUndone(argument),
  });
  return position.sequence;
}

const typesOf = (model: Changed) => {
  const types = model === 'WebhookDelivery' ? ['WEBHOOK_DELIVERY'] : eventsOfNoun[model].types;
  return types.map(literal).join(', ');
};

const snapshot =
  (model: Changed) =>
  ({ row }: Env, alias: string): Sql => [
    `jsonb_populate_record(null::${tableOf(model)}, ${row}.snapshot) ${alias} where ${row}.type in (${typesOf(model)})`,
  ];

export const changedRow =
  (model: Changed): MadeRead =>
  () => ({ kind: 'row', costs: 'past', from: snapshot(model) });

/**
 * Reads the row of the given model that an event refers to. If that is the changed row, it is read as it was after the
 * change. Otherwise its current version is read, if the caller may see it.
 */
export const changedOrNow =
  (model: Changed, relation: string, visible: (viewer: Viewer) => object): MadeRead =>
  () => {
    const now = rowThere('Event', [relation], visible);
    return {
      kind: 'row',
      costs: 'past',
      from: (env, alias) =>
        sql`(select s.* from ${snapshot(model)(env, 's')} union all select o.* from ${now(env, 'o')} and ${env.row ?? ''}.type not in (${typesOf(model)})) ${alias}`,
    };
  };

const accountOfKind =
  (kind: string) =>
  (env: Env, alias: string): Sql =>
    sql`${snapshot('Account')(env, alias)} and ${alias}.kind = ${literal(kind)}`;

/** The changed row, of any type, as it was after the change. */
export const changedSubject: MadeRead = () => ({
  kind: 'rowOf',
  costs: 'past',
  types: {
    Transaction: snapshot('Transaction'),
    Quote: snapshot('Quote'),
    Customer: snapshot('Customer'),
    InternalAccount: accountOfKind('INTERNAL'),
    ExternalAccount: accountOfKind('EXTERNAL'),
    WebhookDelivery: snapshot('WebhookDelivery'),
  },
});

const bodyOf = (cursors: Cursors) => (material: unknown) => {
  // The columns returned by the read below.
  const { event, related } = material as { event: Record<string, unknown>; related: RelatedFields };
  return webhookText(cursors, rowFromFields('Event', event), related);
};

/** The body of an event's webhook: null for apps, because it contains the full record, which only servers may read. */
export const webhookBody: MadeRead = (): Read => ({
  kind: 'leaf',
  costs: 'past',
  sql: ({ row = '' }) => {
    const material = `(select json_build_object('event', to_json(e), 'related', to_json(r))
    from (select ${fieldsOf('Event', row)}) e, (select ${relatedFields} from (select) one ${relatedRows(row)}) r)`;
    const body = computedPlaceholder([material], (run) => run.note(bodyOf(run.cursors)));
    return [
      (run) =>
        seesAny('ofPlatform', run.viewer)
          ? sql`case when ${row}.type in (${webhookTypesSql}) then ${body} end`
          : 'null',
    ];
  },
});
