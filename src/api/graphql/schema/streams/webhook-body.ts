import { seesAny } from '../../../../domain/access/visible.ts';
import { fieldsOf, rowFromFields } from '../../../../infra/database/rows.ts';
import { type RelatedFields, relatedFields, relatedRows, webhookText } from '../../../webhooks/delivery/bodies.ts';
import { webhookTypesSql } from '../../../webhooks/webhook-types.ts';
import { computedPlaceholder } from '../../reading/finish.ts';
import type { Read } from '../../reading/reads.ts';
import { type Run, sql } from '../../reading/sql.ts';

/** What the database brings for the body of a webhook. */
interface Material {
  readonly event: Record<string, unknown>;
  readonly related: RelatedFields;
}

const textOf = (material: unknown) => {
  // What the plan below reads.
  const { event, related } = material as Material;
  return webhookText(rowFromFields('Event', event), related);
};

/** Reads the body of an event's webhook. The record in it is for servers, so an app reads null. */
export const webhookBodyRead: Read = {
  kind: 'leaf',
  costs: 'past',
  sql: ({ row = '' }) => {
    const material = `(select json_build_object('event', to_json(e), 'related', to_json(r))
    from (select ${fieldsOf('Event', row)}) e, (select ${relatedFields} from (select) one ${relatedRows(row)}) r)`;
    const body = (run: Run) => {
      if (!seesAny('ofPlatform', run.viewer)) return 'null';
      return sql`case when ${row}.type in (${webhookTypesSql}) then ${computedPlaceholder([material], run.note(textOf))} end`;
    };
    return [body];
  },
};
