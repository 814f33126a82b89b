import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow between two collections of the old generation, in percent of what the last one has left. */
const growthPercent = 100;

/**
 * Lets the heap grow before V8 collects its old generation. By itself, V8 lets that of a process which has had little to do grow by a
 * third only. Then the buffers of large bodies make it collect every two seconds, and each time all requests wait for about 20 ms
 * (docs/limits.md). The heap of a service that does little is small, so this costs next to no memory.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
