import { pathsIn } from './path.ts';
import { Refusal } from './refusal.ts';

/** The input of a command that changes a record: the version that the caller has seen, which the record must still have. */
export interface Expecting {
  readonly expectedVersion?: number | null | undefined;
}

const at = pathsIn<Expecting>()('expectedVersion');

/** Makes the refusal of a change of a record that has changed since the caller saw it. */
export function changedMeanwhile(existingId: string | null, version: number, replayed = false): Refusal {
  const message = `the record has changed meanwhile: its version is ${version}`;
  return new Refusal('CONFLICT', message, { path: at, ...(existingId !== null && { existingId }), version }, replayed);
}

/** Checks the version of a record, which is locked. @throws Refusal CONFLICT */
export function checkVersion({ expectedVersion }: Expecting, existingId: string | null, version: number): void {
  if ((expectedVersion ?? version) !== version) throw changedMeanwhile(existingId, version);
}
