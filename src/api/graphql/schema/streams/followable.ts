import { accountNameIn, uuidOf } from '../../../../core/ids.ts';
import type { Viewer } from '../../../../domain/access/viewer.ts';
import type { Subject } from '../../../../domain/events/subscribers.ts';
import { matchesNone, NotFollowable, type Predicate, predicateOf } from '../../../../infra/database/predicates.ts';
import type { Noun } from '../../../../infra/database/read-rows.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';
import type { PageRead } from '../../reading/reads.ts';
import { visibleRows } from './visible-ids.ts';

type Filter = Readonly<Record<string, unknown>>;

/** A list's filter for changes of its rows, compiled from the conditions with which the list itself is read. */
export interface FollowedFilter {
  readonly predicate: Predicate;
  /** The customer who owns all of the rows, if the filter names one. */
  readonly subject: Subject | undefined;
}

/**
 * Compiles the filter of a list.
 * @throws GraphQLError INVALID_INPUT, naming the condition, if a change of a row does not show whether it holds;
 * NOT_FOUND for an id that the caller may not see, which would never change
 */
export async function followFilter(context: Context, read: PageRead, filter: Filter): Promise<FollowedFilter> {
  const { viewer } = context;
  const given = Object.entries(filter).filter(([, value]) => value !== null && value !== undefined);
  for (const [name, value] of given) {
    refuseUnfollowable(read, viewer, name, value);
    await refuseUnknown(context, read, name, value);
  }
  const where = read.where(viewer, { filter });
  const customerId = equalIn(where, read.model === 'Customer' ? 'id' : 'customerId');
  return {
    predicate: predicateOf(read.model, where),
    subject: customerId === undefined ? undefined : { of: 'customer', ids: [customerId] },
  };
}

function refuseUnfollowable(read: PageRead, viewer: Viewer, name: string, value: unknown): void {
  try {
    predicateOf(read.model, read.where(viewer, { filter: { [name]: value } }));
  } catch (error) {
    if (!(error instanceof NotFollowable)) throw error;
    throw invalidInput(
      `a list cannot be followed by ${name}: a change of a row does not show whether the condition holds`,
      `filter.${name}`,
    );
  }
}

const nouns = ['Customer', 'Transaction', 'Quote'] as const;

async function refuseUnknown(context: Context, read: PageRead, name: string, value: unknown): Promise<void> {
  const { viewer } = context;
  const nothing = matchesNone(read.where(viewer, { filter: { [name]: value } }));
  if (nothing && !matchesNone(read.where(viewer, { filter: {} })))
    throw failure('NOT_FOUND', `nothing that is visible here matches ${name}`, { field: `filter.${name}` });
  if (typeof value !== 'string') return;
  const noun: Noun | undefined =
    accountNameIn(value) === undefined ? nouns.find((one) => uuidOf(value, one) !== undefined) : 'Account';
  if (noun) await visibleRows(context, noun, [value], `filter.${name}`);
}

function equalIn(where: object, field: string): string | undefined {
  for (const [name, condition] of Object.entries(where)) {
    if (name === field && typeof condition === 'string') return condition;
    if (name !== 'AND') continue;
    for (const part of [condition].flat()) {
      // The parts of `AND` are conditions.
      const found = equalIn(part as object, field);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
