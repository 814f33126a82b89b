import type { Event } from '../../database/generated/client/client.ts';
import { rowFromFields } from '../../database/rows.ts';

/** A message with events of one platform. */
interface Encoded {
  /** The same for the same events, whoever encodes them. */
  readonly id: string;
  readonly count: number;
  readonly json: string;
}

/** Makes messages of events, each of at most `mostBytes` unless one event alone is larger. */
export function* encodeEvents(events: readonly Event[], mostBytes: number): Generator<Encoded> {
  let part: { readonly event: Event; readonly json: string }[] = [];
  let bytes = 0;
  for (const event of events) {
    const json = JSON.stringify(event, (_field, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    const size = Buffer.byteLength(json) + 1;
    if (part.length > 0 && bytes + size > mostBytes) {
      yield joined(part);
      part = [];
      bytes = 0;
    }
    part.push({ event, json });
    bytes += size;
  }
  if (part.length > 0) yield joined(part);
}

function joined(part: readonly { readonly event: Event; readonly json: string }[]): Encoded {
  return {
    id: `${part[0]?.event.id}:${part.at(-1)?.event.id}`,
    count: part.length,
    json: `[${part.map(({ json }) => json).join(',')}]`,
  };
}

/** Reads a message; undefined where it is none of this platform. */
export function decodeEvents(platformId: string, json: string): Event[] | undefined {
  try {
    const rows: Record<string, unknown>[] = JSON.parse(json);
    const events = rows.map((row) => rowFromFields('Event', row));
    return events.every((event) => event.platformId === platformId) ? events : undefined;
  } catch {
    return undefined;
  }
}
