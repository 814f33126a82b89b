/** The part of `semver` that is used here; the package has no types. */
declare module 'semver' {
  interface Semver {
    /** Returns whether a version lies in a range, as npm interprets both. */
    satisfies(version: string, range: string): boolean;
  }

  const semver: Semver;
  export default semver;
}
