import type { GraphQLResolveInfo } from 'graphql';

type Path = GraphQLResolveInfo['path'];

/** A place in the response, and the places below it. Each has one path object, by whose identity Pothos tells places apart. */
export interface Place {
  readonly path: Path | undefined;
  readonly below: Map<string | number, Place>;
}

/** The place of the response itself. */
export function topPlace(): Place {
  return { path: undefined, below: new Map() };
}

/**
 * The path object that stands for `path` below `top`.
 * @param everyRow whether the rows of a list are one place, as they are where all were read by one plan
 */
export function onePath(top: Place, path: Path, everyRow: boolean): Path {
  return placeOf(top, path, everyRow).path ?? path;
}

function placeOf(top: Place, path: Path, everyRow: boolean): Place {
  const above = path.prev ? placeOf(top, path.prev, everyRow) : top;
  if (everyRow && typeof path.key === 'number') return above;
  let place = above.below.get(path.key);
  if (!place) {
    place = { path: { key: path.key, prev: above.path, typename: undefined }, below: new Map() };
    above.below.set(path.key, place);
  }
  return place;
}
