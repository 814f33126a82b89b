/** The path of a value in an input: the names of fields and, in lists, positions from 0. */
export type FieldPath = readonly (string | number)[];

type Leaf = string | number | bigint | boolean | Date | null | undefined;

/** The paths of an input of this type, the empty path of the whole input included. */
export type PathIn<Input> = Input extends Leaf
  ? readonly []
  : Input extends readonly (infer Item)[]
    ? readonly [] | readonly [number, ...PathIn<Item>]
    :
        | readonly []
        | { readonly [Field in keyof Input & string]-?: readonly [Field, ...PathIn<Input[Field]>] }[keyof Input &
            string];

/** Returns a function that makes paths into inputs of one type: the compiler refuses a field that they do not have. */
export function pathsIn<Input>() {
  return <const Path extends PathIn<Input>>(...path: Path): Path => path;
}

/** A table from paths of a command's input to the paths of an API's requests, where the two differ. */
export type PathTable<Input = never> = readonly (readonly [
  from: [Input] extends [never] ? FieldPath : PathIn<Input>,
  to: FieldPath,
])[];

/** Translates a path of a command's input for an API, by the longest entry that it begins with, if any. */
export function translatePath(path: FieldPath, table: PathTable): FieldPath {
  const found = table
    .filter(([from]) => from.every((step, depth) => step === path[depth]))
    .reduce<readonly [FieldPath, FieldPath]>(
      (longest, entry) => (entry[0].length >= longest[0].length ? entry : longest),
      [[], []],
    );
  const [from, to] = found;
  return [...to, ...path.slice(from.length)];
}

/** Formats a path as one text: `beneficialOwners.0.taxId`. */
export function dotted(path: FieldPath): string {
  return path.join('.');
}
