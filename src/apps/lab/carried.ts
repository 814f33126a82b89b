import { stepOf } from './further-steps.ts';
import type { CarriedName } from './step.ts';

interface Carried {
  readonly value: string;
  /** The position in the order of collection. A tab takes each value only once, so later edits are not overwritten. */
  readonly number: number;
}

/** Carries values from responses to the variables of other tabs. */
export class CarriedValues {
  readonly #values = new Map<CarriedName, Carried>();
  readonly #taken = new Map<string, number>();
  #number = 0;

  takeAnswer(operation: string | null | undefined, data: unknown): void {
    const gives = stepOf(operation)?.gives;
    if (!gives || data === null || data === undefined) return;
    for (const [name, value] of Object.entries(gives(data, this.#values.get('source')?.value) ?? {}))
      this.set(name as CarriedName, value);
  }

  set(name: CarriedName, value: string | undefined): void {
    if (value === undefined || this.#values.get(name)?.value === value) return;
    this.#number += 1;
    this.#values.set(name, { value, number: this.#number });
  }

  /** Writes the values that a tab has not taken yet into its variables (JSON). Returns undefined if nothing changes. */
  fill(tabId: string, variables: string): string | undefined {
    const since = this.#taken.get(tabId) ?? 0;
    this.#taken.set(tabId, this.#number);
    const given = parseObject(variables);
    if (!given) return undefined;
    const changed = [...this.#values].filter(
      ([name, { value, number }]) => number > since && name in given && given[name] !== value,
    );
    if (changed.length === 0) return undefined;
    return JSON.stringify(
      { ...given, ...Object.fromEntries(changed.map(([name, { value }]) => [name, value])) },
      null,
      2,
    );
  }
}

/** Parses a JSON object; returns undefined for anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
