import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { TwoSides } from './furnish-sides.ts';

/** Kills instances of either side. Another one may be killed before the last one has restarted. */
export class Killer {
  readonly kills = { here: 0, upstream: 0 };
  readonly #sides: TwoSides;
  readonly #random: Random;
  readonly #coming: Promise<void>[] = [];

  constructor(sides: TwoSides, random: Random) {
    this.#sides = sides;
    this.#random = random;
  }

  /** Kills a serving instance of a side, and starts it again. */
  async kill(): Promise<void> {
    const name = this.#random.oneOf(['here', 'upstream'] as const);
    const side = this.#sides[name];
    while (side.url === undefined) await delay(5);
    const instance = this.#random.oneOf(side.instances.filter(({ isUp }) => isUp));
    await instance.kill();
    this.kills[name] += 1;
    this.#coming.push(instance.start());
  }

  /** Waits until all instances have restarted. */
  async healed(): Promise<void> {
    await Promise.all(this.#coming.splice(0));
  }
}
