import { stepOf } from './further-steps.ts';
import type { CarriedName } from './step.ts';

/** Carries values from responses to the variables of other tabs. */
export class CarriedValues {
  /** All values in the order in which they were collected. */
  readonly #collected: (readonly [CarriedName, string])[] = [];
  /** The number of values that each tab has taken. A tab takes a value only once, so that edits are kept. */
  readonly #taken = new Map<string, number>();

  takeAnswer(operation: string | null | undefined, data: unknown): void {
    const gives = stepOf(operation)?.gives;
    if (!gives || data === null || data === undefined) return;
    for (const [name, value] of Object.entries(gives(data, this.#newest('source')) ?? {}))
      this.set(name as CarriedName, value);
  }

  set(name: CarriedName, value: string | undefined): void {
    if (value !== undefined && value !== this.#newest(name)) this.#collected.push([name, value]);
  }

  /** Returns a tab's variables (JSON), updated with values it has not yet taken; undefined if nothing changes. */
  fill(tabId: string, variables: string): string | undefined {
    const added = Object.fromEntries(this.#collected.slice(this.#taken.get(tabId)));
    this.#taken.set(tabId, this.#collected.length);
    const given = parseObject(variables);
    const changed = given && Object.entries(added).filter(([name, value]) => name in given && given[name] !== value);
    return changed?.length ? JSON.stringify({ ...given, ...Object.fromEntries(changed) }, null, 2) : undefined;
  }

  readonly #newest = (name: CarriedName) => this.#collected.findLast(([other]) => other === name)?.[1];
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
