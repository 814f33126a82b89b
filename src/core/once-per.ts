/** Memoizes a function by its first argument. Later calls for the same object ignore the other arguments. */
export function oncePer<Of extends object, More extends readonly unknown[], Value>(
  compute: (of: Of, ...more: More) => Value,
): (of: Of, ...more: More) => Value {
  const known = new WeakMap<Of, Value>();
  return (of, ...more) => {
    const found = known.get(of);
    if (found !== undefined) return found;
    const value = compute(of, ...more);
    known.set(of, value);
    return value;
  };
}
