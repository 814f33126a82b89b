/** Where something lies in an input: the names of fields and, in lists, positions from 0. */
export type FieldPath = readonly (string | number)[];

type Leaf = string | number | bigint | boolean | Date | null | undefined;

/** The paths that an input of this type has, that of the whole input among them. */
export type PathIn<Input> = Input extends Leaf
  ? readonly []
  : Input extends readonly (infer Item)[]
    ? readonly [] | readonly [number, ...PathIn<Item>]
    :
        | readonly []
        | { readonly [Field in keyof Input & string]-?: readonly [Field, ...PathIn<Input[Field]>] }[keyof Input &
            string];

/** Makes paths into inputs of one type, so that the compiler refuses a field that they do not have. */
export function pathsIn<Input>() {
  return <const Path extends PathIn<Input>>(...path: Path): Path => path;
}

/** Where an API's requests have what a command's input has elsewhere: each path of the input, and theirs. */
export type PathTable<Input = never> = readonly (readonly [
  from: [Input] extends [never] ? FieldPath : PathIn<Input>,
  to: FieldPath,
])[];

/** A path of a command's input as an API's request has it: by the longest entry that it begins with, or else as it is. */
export function movedPath(path: FieldPath, table: PathTable): FieldPath {
  const found = table
    .filter(([from]) => from.every((step, depth) => step === path[depth]))
    .reduce<readonly [FieldPath, FieldPath]>(
      (longest, entry) => (entry[0].length >= longest[0].length ? entry : longest),
      [[], []],
    );
  const [from, to] = found;
  return [...to, ...path.slice(from.length)];
}

/** A path in one text: `beneficialOwners.0.taxId`. */
export function dotted(path: FieldPath): string {
  return path.join('.');
}
