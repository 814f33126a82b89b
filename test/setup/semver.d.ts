/** The part of `semver` that is used here; the package has no types of its own. */
declare module 'semver' {
  interface Semver {
    /** Whether a version lies in a range, as npm reads both. */
    satisfies(version: string, range: string): boolean;
  }

  const semver: Semver;
  export default semver;
}
