/** Returns the number of heap bytes in use after a garbage collection. Soak tests run with `--expose-gc`. */
export function heapInUse(): number {
  if (!globalThis.gc) throw new Error('run with --expose-gc');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
