import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much the heap may grow between two collections of the old generation, in percent of what the last one has left. */
const growthPercent = 100;

/**
 * Sets how V8 uses memory, before anything else is loaded.
 * - The heap grows before its old generation is collected. By default, V8 lets that of a mostly idle process grow by a third
 *   only. Then the buffers of large bodies make it collect every two seconds, and each time all requests wait for about 20 ms
 *   (docs/limits.md). The heap of an idle service is small, so this costs next to no memory.
 * - Prisma's query compiler (WebAssembly) is compiled function by function, on the first call: most are never called.
 */
export function setMemoryFlags(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString('--wasm-lazy-compilation');
}

/** How long after the start its garbage is collected, in milliseconds: the work of the start has ended by then. */
const collectAfterMs = 5_000;

/** Releases the memory that only the start needed, some 150 MB: by itself, V8 keeps it while little happens. */
export function collectStart(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  setTimeout(() => collect({ type: 'major', flavor: 'last-resort' }), collectAfterMs).unref();
}
