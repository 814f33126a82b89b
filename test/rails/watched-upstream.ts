import type { Rail, RailModule } from '../../src/rails/port.ts';
import { upstreamModule } from '../../src/rails/upstream/upstream-module.ts';

/** The function that a test sets for each call of the rail; its argument is the name of the method. */
export const watch: { at: (method: string) => Promise<void> } = { at: async () => undefined };

/** The rail `upstream` with a hook for tests on every call. */
const module: RailModule = {
  ...upstreamModule,
  async open(settings, host) {
    const rail = await upstreamModule.open(settings, host);
    return { ...rail, forPlatform: (platformId) => watched(rail.forPlatform?.(platformId) ?? rail) };
  },
};
export default module;

function watched(rail: Rail): Rail {
  return new Proxy(rail, {
    get(target, name, receiver) {
      const part: unknown = Reflect.get(target, name, receiver);
      if (typeof part !== 'function' || name === 'expectedMs') return part;
      return async (...args: unknown[]) => {
        await watch.at(String(name));
        return part.apply(target, args);
      };
    },
  });
}
