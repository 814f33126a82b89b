/**
 * Makes choices according to a list of numbers. A shrinker can shorten the list and reduce the numbers. When the
 * numbers run out, every choice is the first option.
 */
export class Choices {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** Returns a number from 0 up to, but not including, `options`. */
  below(options: number): number {
    const number = this.#numbers[this.#at] ?? 0;
    this.#at += 1;
    return number % options;
  }

  /** Returns true once in `times` calls on average. If the next number is 0, returns false, unless `times` is 1. */
  oneIn(times: number): boolean {
    return this.below(times) === times - 1;
  }

  oneOf<T>(options: readonly T[]): T {
    const chosen = options[this.below(options.length)];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  }
}
