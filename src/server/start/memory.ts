import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The growth of the heap between two collections of the old generation, in percent of the heap that the last one left.
 */
const growthPercent = 100;

/**
 * Sets how V8 uses memory, before anything else is loaded.
 * - The heap grows before its old generation is collected. By default, a mostly idle process may grow by a third only.
 *   Then the buffers of large bodies trigger a collection every two seconds, each of which delays all requests by
 *   about 20 ms (docs/limits.md). The heap of an idle service is small, so this costs next to no memory.
 * - Prisma's query compiler (WebAssembly) is compiled function by function, on the first call: most are never called.
 */
export function setMemoryFlags(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString('--wasm-lazy-compilation');
}

/** The delay in milliseconds before the garbage of the start is collected: the start's work has ended by then. */
const collectAfterMs = 5_000;

/** Releases about 150 MB that only the start needed: by itself, V8 keeps it while there is little activity. */
export function collectStart(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  setTimeout(() => collect({ type: 'major', flavor: 'last-resort' }), collectAfterMs).unref();
}
