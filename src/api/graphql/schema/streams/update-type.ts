import type { EnumRef, FieldMap, InterfaceRef, ObjectRef } from '@pothos/core';
import type { FollowedNoun } from '../../../../domain/events/row-events.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';
import { readAround } from '../../reading/planned.ts';
import { builder, type Types } from '../builder.ts';
import type { RowUpdate } from './stream.ts';

type FieldBuilder<Noun extends FollowedNoun> = PothosSchemaTypes.ObjectFieldBuilder<Types, RowUpdate<Noun>>;

/** Adds the type of a stream's messages about rows of a noun. `more` are its fields besides the row and the time. */
export function updateType<Noun extends FollowedNoun, Row>(
  noun: Noun,
  type: ObjectRef<Types, Row> | InterfaceRef<Types, Row>,
  description: string,
  more: (t: FieldBuilder<Noun>) => FieldMap,
) {
  const word = noun.toLowerCase();
  return builder.objectRef<RowUpdate<Noun>>(`${noun}Update`).implement({
    description,
    fields: (t) => ({
      cursor: t.string({
        description: 'The position of the change in the feed: pass it as `after` to resume the stream.',
        resolve: ({ cursor }) => cursor,
      }),
      [word]: t.field({
        type,
        description: `The ${word} as of this change.`,
        // The row of the noun, in the form that its type expects.
        resolve: ({ row }, _args, context, info) => readAround(noun, row, context, info) as never,
      }),
      ...more(t),
      occurredAt: t.field({
        type: 'DateTime',
        description: `When the ${word} changed.`,
        resolve: ({ row }) => row.updatedAt,
      }),
    }),
  });
}

/** The options of a field with the status before a change. The database writes it: one of the noun's statuses. */
export const previously = <Status extends string>(type: EnumRef<Types, Status>, description: string) =>
  ({
    type,
    nullable: true,
    description,
    resolve: ({ change }: { readonly change: Event | undefined }) => (change?.previousStatus ?? null) as Status | null,
  }) as const;
