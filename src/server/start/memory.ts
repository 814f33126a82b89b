import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much the heap may grow before its old generation is collected again, in percent. */
const growthPercent = 100;

/**
 * Sets how V8 uses memory, before anything else is loaded.
 * - The heap may double before its old generation is collected. By default, the heap of a mostly idle process may grow
 *   only by a third. The buffers of large bodies would then trigger a collection every two seconds, and each one would
 *   delay all requests by about 20 ms (docs/limits.md). An idle service has a small heap, so this costs hardly any
 *   memory.
 * - Functions in Prisma's query compiler (WebAssembly) are compiled on their first call: most are never called.
 */
export function setMemoryFlags(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString('--wasm-lazy-compilation');
}

/** The delay before garbage from startup is collected, in milliseconds. Startup is over by then. */
const collectAfterMs = 5_000;

/** Releases about 150 MB that only startup needed. Otherwise, V8 would keep it while the process is mostly idle. */
export function collectStart(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  setTimeout(() => collect({ type: 'major', flavor: 'last-resort' }), collectAfterMs).unref();
}
