/** A placeholder in the title of a test that runs once for each row: `%s`, `$name` or `${expression}`. */
const placeholder = /%[a-z]|\$\{[^}]*\}|\$[\w.]+/g;

/** Returns the regular expression that matches the titles of all rows of a parameterized title. */
export function titlePattern(title: string): string {
  return title
    .split(placeholder)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*');
}

/** Returns whether a title in the source matches that of a test that ran. */
export function standsFor(title: string, ran: string): boolean {
  return new RegExp(`^${titlePattern(title)}$`, 's').test(ran);
}
