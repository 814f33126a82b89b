import type { Rail, RailModule } from '../../src/rails/port.ts';
import { upstreamModule } from '../../src/rails/upstream/upstream-module.ts';

/** A hook that tests can set. It runs before each call to the rail and gets the method's name. */
export const watch: { at: (method: string) => Promise<void> } = { at: async () => undefined };

/** The `upstream` rail with a hook that lets tests act on every call. */
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
