import type { Position } from './position.ts';

/** How many platforms are remembered one by one. */
const maxPlatforms = 10_000;

/** Where the log ended after the last write of each platform through this instance. */
export class OwnWrites {
  readonly #positions = new Map<string, Position>();
  /** The newest of the forgotten positions, used for platforms that are not in memory. */
  #floor: Position | undefined;

  note(platformId: string, position: Position): void {
    const newest = newer(position, this.#positions.get(platformId));
    // The last in the order of a Map is the one that was set last.
    this.#positions.delete(platformId);
    this.#positions.set(platformId, newest);
    if (this.#positions.size <= maxPlatforms) return;
    for (const [oldest, forgotten] of this.#positions) {
      this.#positions.delete(oldest);
      this.#floor = newer(forgotten, this.#floor);
      return;
    }
  }

  /** Returns a position that no write of the platform through this instance lies behind; undefined where it wrote nothing. */
  of(platformId: string): Position | undefined {
    return this.#positions.get(platformId) ?? this.#floor;
  }
}

/** Returns the newer of two positions, which simultaneous writes note in any order. */
function newer(noted: Position, before: Position | undefined): Position {
  return before && before.history === noted.history && before.lsn > noted.lsn ? before : noted;
}
