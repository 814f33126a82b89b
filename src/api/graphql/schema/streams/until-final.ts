import type { Channel } from '../../../../domain/events/channel.ts';
import type { Finality } from '../../../../domain/settlement/finality.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';

/** A rail that watches for a bank return is looked at when it is asked again, within these bounds, in milliseconds. */
const lookMs = { least: 1_000, most: 60_000, afterFailure: 5_000 } as const;

/**
 * Ends a stream of one transaction when nothing can follow what its reader has been shown. The end of a watch changes no
 * status and so makes no event: this looks for it.
 * @returns a function to call with each version that the reader is shown
 */
export function endWhenFinal(
  channel: Pick<Channel<Event>, 'ended' | 'end'>,
  look: () => Promise<Finality | undefined>,
): (version: number) => void {
  let shown = 0;
  let timer: NodeJS.Timeout | undefined;
  const check = async (): Promise<void> => {
    if (channel.ended) return;
    const finality = await look();
    if (!finality) return;
    const { isFinal, version, dueInMs } = finality;
    // A later version has an event, which is shown first.
    if (isFinal && version <= shown) channel.end();
    else if (dueInMs !== null) again(Math.min(Math.max(dueInMs, lookMs.least), lookMs.most));
  };
  const again = (ms: number) => {
    clearTimeout(timer);
    // A database that is out of reach is looked at again, too.
    timer = setTimeout(() => check().catch(() => again(lookMs.afterFailure)), ms).unref();
  };
  return (version) => {
    shown = Math.max(shown, version);
    again(0);
  };
}
