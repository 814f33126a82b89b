import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream';

/** The stream, and the subjects of it: what instances publish, and what the server passes on once it has stored it. */
const stream = 'PAYMENTS_FEED';
export const publishedSubject = (platformId: string) => `payments.feed.${platformId}`;
export const passedOnSubject = (platformId: string) => `payments.live.${platformId}`;
/** Where instances say which platforms they follow. */
export const wantedSubject = 'payments.wanted';

/** How many milliseconds a server may take to connect or to answer. */
export const answerMs = 5_000;

/** How long the stream remembers messages and their ids. Nobody reads what was published before. */
const rememberedMs = 60_000;
const nanosecondsIn = 1_000_000;
/** The most bytes of the stream, which is in memory. */
const streamBytes = 64 * 1024 * 1024;

const republish = { src: publishedSubject('>'), dest: passedOnSubject('>') };

/**
 * Finds the stream. An operator may have made it.
 * @returns false where there is none
 * @throws where it does not carry events as instances need it
 */
export async function findStream(manager: JetStreamManager): Promise<boolean> {
  try {
    const { config } = await manager.streams.info(stream);
    requireCarrying(config);
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'StreamNotFoundError') return false;
    throw error;
  }
}

/** Makes the stream, unless it is there. @throws as `findStream` */
export async function makeStream(manager: JetStreamManager): Promise<void> {
  if (await findStream(manager)) return;
  await manager.streams.add({
    name: stream,
    subjects: [publishedSubject('*')],
    republish,
    storage: 'memory',
    discard: 'old',
    max_bytes: streamBytes,
    max_age: rememberedMs * nanosecondsIn,
    duplicate_window: rememberedMs * nanosecondsIn,
  });
}

function requireCarrying({ subjects, republish: passesOn }: StreamConfig): void {
  if (!subjects.includes(publishedSubject('*')))
    throw new Error(`the stream ${stream} lacks the subjects ${publishedSubject('*')}`);
  if (passesOn?.src !== republish.src || passesOn.dest !== republish.dest)
    throw new Error(`the stream ${stream} does not republish ${republish.src} as ${republish.dest}`);
}
