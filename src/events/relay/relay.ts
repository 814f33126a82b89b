import type { Event } from '../../database/generated/client/client.ts';

/** Events of a platform's feed as another instance has read them, in the order of the feed and without a gap. */
export interface RelayedBatch {
  readonly platformId: string;
  /** The name of the server that they were read from (`server_name`). */
  readonly server: string;
  readonly events: readonly Event[];
}

/** What a relay calls. */
export interface RelayReader {
  /** Takes events. They may have been delivered before, may be of long ago, and others may be missing before them. */
  take(batch: RelayedBatch): void;
  /** Says that nothing comes any more until the relay is up again. */
  lost(): void;
}

/**
 * Carries live events between the instances of an installation, so that one of them reads each from the database for all. It
 * promises nothing: whoever reads decides by the numbers of the feed, and reads in the database what did not come.
 */
export interface Relay {
  /** Whether events can come now. */
  readonly isUp: boolean;
  /** How many events this instance has published. */
  readonly published: number;
  open(reader: RelayReader): void;
  /** Asks the other instances for the events of a platform. */
  follow(platformId: string): void;
  unfollow(platformId: string): void;
  /** Says whether another instance has asked for the events of a platform. */
  isWanted(platformId: string): boolean;
  publish(batch: RelayedBatch): void;
  close(): Promise<void>;
}

/** The relay of a process, and what it publishes there. */
export interface OwnRelay {
  readonly relay: Relay;
  /** Returns the process id of the session of this process' sequencer: it publishes what that has numbered. */
  readonly ownSession: () => number | undefined;
}

/** What a relay has done for a process. */
export interface RelayFigures {
  readonly isUp: boolean;
  /** The events that this process has published. */
  readonly published: number;
  /** The events that subscribers of this process got from it. */
  readonly relayed: number;
  /** How often events had to be read since they did not come in time. */
  readonly late: number;
}
