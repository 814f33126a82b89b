import type { Event as EventRow } from '../database/generated/client/client.ts';
import { feedCursor } from '../events/cursor.ts';
import { publicId } from '../payments/ids.ts';
import { builder } from './builder.ts';
import { EventType } from './enums.ts';

export const Event = builder.objectRef<EventRow>('Event').implement({
  description: 'One change, with its place in the feed.',
  fields: (t) => ({
    id: t.id({ description: 'Event:…', resolve: (event) => publicId('Event', event.id) }),
    cursor: t.string({
      description: 'Its place in the feed.',
      resolve: (event) => feedCursor(event.platformId, event.sequence),
    }),
    type: t.expose('type', { type: EventType, description: 'What kind of change.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it happened.' }),
  }),
});
